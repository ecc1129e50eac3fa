import Foundation
import TileGeometry
import TileStorage
import ZigguratText
import ZigguratTileProtocols

/// The layout of `info.json` and tiles under their canonical URLs: level 0 of the IIIF Image API 3.0, as of
/// `vips dzsave --layout iiif3`. A level that fits in one tile also exists as `full`, which viewers request.
struct IIIFLayout: StaticLayout {
  let pyramid: Pyramid
  let format: TileFormat
  /// The URL of the folder, without a slash at its end.
  let id: String
  let scale: PhysicalDimensions?
  var firstLevel: Int { 0 }

  func names(of tile: TileAddress) -> [String] {
    let (size, place) = (pyramid.size(ofLevel: tile.level), rectangle(of: tile)!)
    var names: [String] = []
    if place.width == size.width, place.height == size.height {
      names.append(URLWriter.string { IIIFTileName.write(wholeAs: size, format, &$0) })
      if tile.level == pyramid.topLevel {
        names.append(URLWriter.string { IIIFTileName.write(wholeAs: nil, format, &$0) })
      }
    }
    // Coarser levels are sizes, not tiles.
    if tile.level >= pyramid.finestSingleTileLevel, !isFinerTile(tile) {
      names.append(
        URLWriter.string {
          IIIFTileName.write(numbersOf: place, level: tile.level, of: pyramid, format, &$0)
        })
    }
    return names
  }

  /// Whether the tile has the region and size, and so the name, of a tile of the next finer level. Such a tile is the
  /// lower right corner of both levels, and one pixel in each. Any other is half as wide or high in the coarser one.
  private func isFinerTile(_ tile: TileAddress) -> Bool {
    let finer = TileAddress(level: tile.level + 1, column: 2 * tile.column, row: 2 * tile.row)
    guard let place = rectangle(of: tile), let other = rectangle(of: finer), place.width == other.width,
      place.height == other.height
    else { return false }
    return IIIFGrid.region(of: place, level: tile.level, in: pyramid)
      == IIIFGrid.region(of: other, level: finer.level, in: pyramid)
  }

  /// Whether a file or folder has this name in the export. Any name of a region is taken for a tile's.
  func holds(_ name: String) -> Bool {
    let numbers = name.split(separator: ",", omittingEmptySubsequences: false)
    return ["info.json", "full"].contains(name)
      || numbers.count == 4 && numbers.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }
  }

  var documents: [(name: String, text: String)] {
    let factors = IIIFGrid.scaleFactors(of: pyramid, from: pyramid.finestSingleTileLevel)
    let sizes = (0...pyramid.finestSingleTileLevel).map { level in
      let size = pyramid.size(ofLevel: level)
      return JSONValue.object(["width": .integer(size.width), "height": .integer(size.height)])
    }
    var json: JSONValue = [
      "@context": "http://iiif.io/api/image/3/context.json", "id": .text(id), "type": "ImageService3",
      "protocol": "http://iiif.io/api/image", "profile": "level0", "width": .integer(pyramid.imageSize.width),
      "height": .integer(pyramid.imageSize.height), "sizes": .list(sizes),
      "tiles": [
        ["width": .integer(pyramid.tileSize), "scaleFactors": .list(factors.map { .integer($0) })]
      ],
    ]
    if format != .jpeg {
      json["preferredFormats"] = [.text(format.fileExtension)]
      json["extraFormats"] = [.text(format.fileExtension)]
    }
    if let scale { json["service"] = [scale.service(of: id)] }
    return [("info.json", text(of: json))]
  }
}

/// Returns the JSON with sorted keys, so that the same archive gives the same bytes.
private func text(of json: JSONValue) -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
  // Strings, numbers and lists of them always encode.
  let data = try! encoder.encode(json)
  return String(decoding: data, as: UTF8.self) + "\n"
}

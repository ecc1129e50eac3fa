import Foundation
import TileGeometry
import TileProtocols
import TileStorage

/// `info.json` and tiles under their canonical URLs, level 0 of the IIIF Image API 3.0, as `vips dzsave
/// --layout iiif3`. A level that one tile holds is there as `full` too, which viewers ask for.
struct IIIFLayout: StaticLayout {
  let pyramid: Pyramid
  let format: TileFormat
  /// Where the folder will stand, without a slash at its end.
  let id: String
  var firstLevel: Int { 0 }

  func names(of tile: TileAddress) -> [String] {
    let (size, place) = (pyramid.size(ofLevel: tile.level), pyramid.rectangle(of: tile)!)
    var names: [String] = []
    if place.width == size.width, place.height == size.height {
      names.append(PathText.string { IIIFTileName.write(wholeAs: size, format, &$0) })
      if tile.level == pyramid.topLevel {
        names.append(PathText.string { IIIFTileName.write(wholeAs: nil, format, &$0) })
      }
    }
    // Coarser ones are sizes, not tiles.
    if tile.level >= pyramid.finestSingleTileLevel {
      names.append(
        PathText.string {
          IIIFTileName.write(numbersOf: place, level: tile.level, of: pyramid, format, &$0)
        })
    }
    return names
  }

  var documents: [(name: String, text: String)] {
    let factors = IIIFGrid.scaleFactors(of: pyramid, from: pyramid.finestSingleTileLevel)
    let sizes = (0...pyramid.finestSingleTileLevel).map { level in
      let size = pyramid.size(ofLevel: level)
      return ["width": size.width, "height": size.height]
    }
    var json: [String: any Sendable] = [
      "@context": "http://iiif.io/api/image/3/context.json", "id": id, "type": "ImageService3",
      "protocol": "http://iiif.io/api/image", "profile": "level0", "width": pyramid.imageSize.width,
      "height": pyramid.imageSize.height, "sizes": sizes,
      "tiles": [
        ["width": pyramid.tileSize, "scaleFactors": factors] as [String: any Sendable]
      ],
    ]
    if format != .jpeg {
      json["preferredFormats"] = [format.fileExtension]
      json["extraFormats"] = [format.fileExtension]
    }
    return [("info.json", text(of: json))]
  }
}

/// Keys sorted, so that the same archive gives the same bytes.
private func text(of json: [String: any Sendable]) -> String {
  // Strings, numbers and lists of them always serialise.
  let data = try! JSONSerialization.data(
    withJSONObject: json, options: [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes])
  return String(decoding: data, as: UTF8.self) + "\n"
}

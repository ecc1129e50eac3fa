import Foundation
import TileGeometry
import TileStorage

/// `Z/X/Y.EXT` with a `tilejson.json`, as Leaflet, OpenLayers and OpenSeadragon ask (`vips dzsave --layout
/// google` has Z/Y/X); the tile of z 0 holds the whole image.
struct XYZLayout: StaticLayout {
  let pyramid: Pyramid
  let name: String
  let format: TileFormat
  /// Where the folder will stand, without a slash at its end; nil leaves the tiles' URLs relative.
  let baseURL: String?
  var padsEdges: Bool { true }

  func names(of tile: TileAddress) -> [String] {
    ["\(tile.level - firstLevel)/\(tile.column)/\(tile.row).\(format.fileExtension)"]
  }

  var documents: [(name: String, text: String)] {
    let highest = pyramid.topLevel - firstLevel
    let world = Double(pyramid.tileSize << highest)
    let (width, height) = (Double(pyramid.imageSize.width), Double(pyramid.imageSize.height))
    // The world map's upper left corner, in Web Mercator.
    func latitude(_ y: Double) -> Double { atan(sinh(.pi * (1 - 2 * y))) * 180 / .pi }
    let json: [String: any Sendable] = [
      "tilejson": "3.0.0", "scheme": "xyz", "name": name, "minzoom": 0, "maxzoom": highest,
      "tiles": [(baseURL.map { $0 + "/" } ?? "") + "{z}/{x}/{y}.\(format.fileExtension)"],
      "bounds": [-180, latitude(height / world), width / world * 360 - 180, latitude(0)],
      "tileSize": pyramid.tileSize, "width": pyramid.imageSize.width, "height": pyramid.imageSize.height,
    ]
    return [("tilejson.json", text(of: json))]
  }
}

/// Keys sorted, so that the same archive gives the same bytes.
func text(of json: [String: any Sendable]) -> String {
  // Strings, numbers and lists of them always serialise.
  let data = try! JSONSerialization.data(
    withJSONObject: json, options: [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes])
  return String(decoding: data, as: UTF8.self) + "\n"
}

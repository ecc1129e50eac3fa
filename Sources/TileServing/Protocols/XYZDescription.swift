import Foundation
import HTTPMessages
import TileStorage

/// The TileJSON 3.0 of an image's XYZ tiles, which lie on the map as the tiles of z 0 do: from its upper
/// left corner.
struct XYZDescription: Encodable {
  let tilejson = "3.0.0"
  let scheme = "xyz"
  let name: String
  let description: String?
  let attribution: String?
  let tiles: [String]
  let minzoom = 0
  let maxzoom: Int
  /// West, south, east, north, degrees in Web Mercator.
  let bounds: [Double]
  /// Not of the specification, which leaves the side of a tile to the client: pixels.
  let tileSize: Int
  let width: Int
  let height: Int

  init(id: String, archive: SZIArchive, metadata: ImageMetadata, base: String) {
    let grid = XYZGrid(archive.pyramid)
    name = metadata.title ?? id
    description = metadata.caption
    // Maps show it as HTML (TileJSON 3.0, section 3.4), and it is anybody's text.
    attribution = metadata.rights.map {
      $0.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
    let generation = String(archive.generation, radix: 16)
    tiles = [
      "\(base)/xyz/\(PercentEncoding.encode(id))/{z}/{x}/{y}.\(archive.format.fileExtension)?g=\(generation)"
    ]
    maxzoom = grid.maximumZ
    tileSize = grid.pyramid.tileSize
    (width, height) = (grid.pyramid.imageSize.width, grid.pyramid.imageSize.height)
    let world = Double(tileSize) * Double(sign: .plus, exponent: grid.maximumZ, significand: 1)
    func latitude(_ y: Double) -> Double { atan(sinh(.pi * (1 - 2 * y))) * 180 / .pi }
    bounds = [-180, latitude(Double(height) / world), Double(width) / world * 360 - 180, latitude(0)]
  }
}

import Foundation
package import TileGeometry
package import TileStorage

/// The TileJSON 3.0 of an image's XYZ tiles. On the map, the tiles begin in the upper left corner of z 0.
package struct XYZDescription: Encodable {
  private let tilejson = "3.0.0"
  private let scheme = "xyz"
  private let name: String
  private let description: String?
  private let attribution: String?
  private let tiles: [String]
  /// The same tiles with twice the pixels, for screens of two device pixels a CSS pixel. Not in the specification.
  private let tiles2x: [String]?
  private let minzoom = 0
  private let maxzoom: Int
  /// West, south, east and north in degrees, in Web Mercator.
  private let bounds: [Double]
  /// The side of a tile in pixels. Not in the specification, which leaves it to the client.
  private let tileSize: Int
  /// The fill of the tiles at the right and lower edges, which are full size, too: `transparent`, or a CSS colour.
  private let edgeTiles: String
  private let width: Int
  private let height: Int

  /// - Parameters:
  ///   - metadata: the source of description and attribution; nil for neither.
  ///   - tiles: the tiles' URL, with placeholders for the numbers.
  ///   - doubleTiles: the URL of tiles with twice the pixels; nil if there are no such tiles.
  ///   - background: the fill beyond the image's edge in formats without alpha: red, green, blue, 0…255.
  package init(
    name: String, metadata: ImageMetadata?, _ pyramid: Pyramid, tiles: String, doubleTiles: String? = nil,
    format: TileFormat, background: [Int] = [255, 255, 255]
  ) {
    let grid = XYZGrid(pyramid)
    self.name = name
    description = metadata?.caption
    // Maps show it as HTML (TileJSON 3.0, section 3.4), and it is untrusted.
    attribution = (metadata?.rights ?? metadata?.credit).map(HTMLText.escaped)
    self.tiles = [tiles]
    tiles2x = doubleTiles.map { [$0] }
    maxzoom = grid.maximumZ
    tileSize = pyramid.tileSize
    edgeTiles =
      PictureFormat(format).keepsAlpha
      ? "transparent" : "rgb(\(background.map(String.init).joined(separator: ", ")))"
    width = pyramid.imageSize.width
    height = pyramid.imageSize.height
    let world = Double(tileSize) * Double(sign: .plus, exponent: grid.maximumZ, significand: 1)
    func latitude(_ y: Double) -> Double { atan(sinh(.pi * (1 - 2 * y))) * 180 / .pi }
    bounds = [-180, latitude(Double(height) / world), Double(width) / world * 360 - 180, latitude(0)]
  }

  var json: [UInt8] { encoded([.sortedKeys, .withoutEscapingSlashes]) }

  /// The document for human readers, indented.
  package var text: String {
    String(decoding: encoded([.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]), as: UTF8.self) + "\n"
  }

  private func encoded(_ formatting: JSONEncoder.OutputFormatting) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = formatting
    // Strings, and numbers that are finite, always encode.
    return Array(try! encoder.encode(self))
  }
}

import TileGeometry
import TileStorage
import ZigguratTileProtocols

/// `Z/X/Y.EXT` with a `tilejson.json`, as Leaflet, OpenLayers and OpenSeadragon ask (`vips dzsave --layout
/// google` has Z/Y/X); the tile of z 0 holds the whole image.
struct XYZLayout: StaticLayout {
  let pyramid: Pyramid
  let name: String
  let format: TileFormat
  /// Where the folder will stand, without a slash at its end; nil leaves the tiles' URLs relative.
  let baseURL: String?
  /// Beyond the image's edge, in formats without alpha: red, green, blue.
  let background: [Int]
  var padsEdges: Bool { true }

  func names(of tile: TileAddress) -> [String] {
    [PathText.string { XYZGrid(pyramid).tile(tile).write(&$0, format) }]
  }

  func holds(_ name: String) -> Bool {
    name == "tilejson.json" || (0...XYZGrid(pyramid).maximumZ).contains { name == String($0) }
  }

  var documents: [(name: String, text: String)] {
    let template = XYZTile.template(ending: format.fileExtension)
    let description = XYZDescription(
      name: name, metadata: nil, pyramid, tiles: (baseURL.map { $0 + "/" } ?? "") + template,
      format: format, background: background)
    return [("tilejson.json", description.text)]
  }
}

import TileGeometry
import TileStorage
import ZigguratTileProtocols

/// The layout `Z/X/Y.EXT` with a `tilejson.json`, for Leaflet, OpenLayers and OpenSeadragon. The layout of
/// `vips dzsave --layout google` is Z/Y/X. The tile of z 0 contains the whole image.
struct XYZLayout: StaticLayout {
  let pyramid: Pyramid
  let name: String
  let format: TileFormat
  /// The URL of the folder, without a slash at its end; nil keeps the tiles' URLs relative.
  let baseURL: String?
  /// The colour beyond the image's edge, in formats without alpha: red, green, blue, 0…255.
  let background: [Int]
  var padsEdges: Bool { true }

  func names(of tile: TileAddress) -> [String] {
    [URLWriter.string { XYZGrid(pyramid).tile(tile).write(&$0, format) }]
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

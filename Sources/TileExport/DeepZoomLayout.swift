import TileGeometry
import TileStorage
import ZigguratTileProtocols

/// The layout `NAME.dzi` and `NAME_files/LEVEL/COLUMN_ROW.EXT`, as of `vips dzsave --layout dz`.
struct DeepZoomLayout: StaticLayout {
  let pyramid: Pyramid
  let name: String
  let format: TileFormat
  var firstLevel: Int { 0 }

  func names(of tile: TileAddress) -> [String] {
    ["\(name)_files/" + URLWriter.string { tile.write(deepZoom: &$0, format) }]
  }

  func holds(_ entry: String) -> Bool { ["\(name).dzi", "\(name)_files"].contains(entry) }

  var documents: [(name: String, text: String)] {
    [("\(name).dzi", DeepZoomDescriptor(pyramid: pyramid, format: format).xml)]
  }
}

import TileGeometry
import TileStorage
import ZigguratTileProtocols

/// The layout `ImageProperties.xml` and `TileGroupN/LEVEL-COLUMN-ROW.jpg`, with the tiles that `serve` has as Zoomify.
///
/// Levels are halved rounding down. Those of `vips dzsave --layout zoomify` are not, and no client can know that.
struct ZoomifyLayout: StaticLayout {
  let pyramid: Pyramid
  private let grid: ZoomifyGrid
  /// The only format of Zoomify.
  let format = TileFormat.jpeg

  init(pyramid: Pyramid) {
    self.pyramid = pyramid
    grid = ZoomifyGrid(pyramid, tileSize: pyramid.tileSize)
  }

  var firstLevel: Int { grid.levels.storedLevel(ofLevel: 0) }

  func columns(ofLevel level: Int) -> Int { grid.tiles(ofLevel: level - firstLevel).columns }

  func rows(ofLevel level: Int) -> Int { grid.tiles(ofLevel: level - firstLevel).rows }

  func rectangle(of tile: TileAddress) -> PixelRect? {
    grid.rectangle(level: tile.level - firstLevel, x: tile.column, y: tile.row)
  }

  func names(of tile: TileAddress) -> [String] {
    let level = tile.level - firstLevel
    return grid.groups(level: level, x: tile.column, y: tile.row).map { group in
      URLWriter.string {
        ZoomifyTile(group: group, level: level, x: tile.column, y: tile.row).write(&$0, format)
      }
    }
  }

  func holds(_ name: String) -> Bool {
    let top = pyramid.topLevel
    let (columns, rows) = (columns(ofLevel: top), rows(ofLevel: top))
    let last = grid.groups(level: top - firstLevel, x: columns - 1, y: rows - 1).upperBound
    return name == "ImageProperties.xml" || (0...last).contains { name == "TileGroup\($0)" }
  }

  var documents: [(name: String, text: String)] { [("ImageProperties.xml", grid.xml)] }
}

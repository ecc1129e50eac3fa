import TileGeometry
import TileProtocols
import TileStorage

/// `ImageProperties.xml` and `TileGroupN/LEVEL-COLUMN-ROW.jpg`, as `vips dzsave --layout zoomify`: levels are
/// halved rounding up.
struct ZoomifyLayout: StaticLayout {
  let pyramid: Pyramid
  /// The one that Zoomify has.
  let format = TileFormat.jpeg

  func names(of tile: TileAddress) -> [String] {
    // Groups of 256 in the order of the tiles, beginning at the level that is one tile.
    let number = pyramid.index(of: tile)! - pyramid.firstIndex(ofLevel: firstLevel)
    return [
      PathText.string {
        ZoomifyTile(
          group: number / ZoomifyTile.groupSize, level: tile.level - firstLevel, x: tile.column, y: tile.row
        ).write(&$0, format)
      }
    ]
  }

  var documents: [(name: String, text: String)] {
    let count = pyramid.tileCount - pyramid.firstIndex(ofLevel: firstLevel)
    let xml = ZoomifyGrid.xml(pyramid.imageSize, tileCount: count, tileSize: pyramid.tileSize)
    return [("ImageProperties.xml", xml)]
  }
}

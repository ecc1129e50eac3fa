import TileGeometry
import ZigguratImaging

/// The properties that all strips of one level share.
struct StripLevel {
  /// Halvings from full resolution; 0 is the image itself.
  let shift: Int
  let width: Int
  let height: Int
  let columns: Int
  let rows: Int
  let tileSize: Int
  let block: PlaneBlock
  /// Tiles in a row of the next finer level, and its rows; 0 at full resolution.
  let childColumns: Int
  let childRows: Int

  init(_ pyramid: Pyramid, shift: Int, layout: PixelLayout) {
    let level = pyramid.topLevel - shift
    let size = pyramid.size(ofLevel: level)
    self.shift = shift
    width = size.width
    height = size.height
    columns = pyramid.columns(ofLevel: level)
    rows = pyramid.rows(ofLevel: level)
    tileSize = pyramid.tileSize
    block = PlaneBlock(layout, width: tileSize, height: tileSize)
    childColumns = shift == 0 ? 0 : pyramid.columns(ofLevel: level + 1)
    childRows = shift == 0 ? 0 : pyramid.rows(ofLevel: level + 1)
  }

  var layout: PixelLayout { block.layout }

  /// Tiles of the finer level that are shrunk into one of this level.
  func children(ofTile column: Int, row: Int) -> Int {
    min(2, max(0, childRows - 2 * row)) * min(2, max(0, childColumns - 2 * column))
  }
}

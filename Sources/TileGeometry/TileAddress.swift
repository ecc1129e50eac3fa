/// Where a tile stands in a pyramid, counted as Deep Zoom counts: level 0 is 1×1 pixel,
/// the last level is full resolution, column and row start at the top left.
public struct TileAddress: Hashable, Sendable {
  /// The level, 0 the coarsest.
  public let level: Int
  /// The column, 0 at the left.
  public let column: Int
  /// The row, 0 at the top.
  public let row: Int

  /// An address, whether or not a pyramid has such a tile.
  public init(level: Int, column: Int, row: Int) {
    self.level = level
    self.column = column
    self.row = row
  }
}

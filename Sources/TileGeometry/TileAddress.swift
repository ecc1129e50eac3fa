/// The position of a tile in a pyramid, in the numbering of Deep Zoom. Level 0 has 1×1 pixel, and the last level has
/// full resolution. Columns and rows start at 0 in the top-left corner.
public struct TileAddress: Hashable, Sendable {
  /// The level. Level 0 is the coarsest.
  public let level: Int
  /// The column. Column 0 is at the left edge.
  public let column: Int
  /// The row. Row 0 is at the top edge.
  public let row: Int

  /// Creates an address. The values are stored unchecked; `Pyramid.contains(_:)` tests whether such a tile exists.
  public init(level: Int, column: Int, row: Int) {
    self.level = level
    self.column = column
    self.row = row
  }
}

/// Where a tile stands in a pyramid, counted as Deep Zoom counts: level 0 is 1×1 pixel,
/// the last level is full resolution, column and row start at the top left.
public struct TileAddress: Hashable, Sendable {
  public let level: Int
  public let column: Int
  public let row: Int

  public init(level: Int, column: Int, row: Int) {
    self.level = level
    self.column = column
    self.row = row
  }
}

package import TileGeometry

/// The mapping from a tile's level, column and row to its index, in constant time.
package struct TileGrid: Sendable {
  private let levels: [Level]

  private struct Level {
    let firstIndex: Int
    let columns: Int
    let rows: Int
  }

  /// Creates the grid of a pyramid.
  package init(_ pyramid: Pyramid) {
    var levels: [Level] = []
    var first = 0
    for level in 0..<pyramid.levelCount {
      let (columns, rows) = (pyramid.columns(ofLevel: level), pyramid.rows(ofLevel: level))
      levels.append(Level(firstIndex: first, columns: columns, rows: rows))
      first += columns * rows
    }
    self.levels = levels
  }

  /// Returns the tile's index, or nil outside the pyramid; the same as `Pyramid.index(of:)`.
  package func index(level: Int, column: Int, row: Int) -> Int? {
    guard level >= 0, level < levels.count else { return nil }
    let grid = levels[level]
    guard column >= 0, column < grid.columns, row >= 0, row < grid.rows else { return nil }
    return grid.firstIndex + row * grid.columns + column
  }
}

import TileGeometry

/// Where every tile of an archive lies, by tile index: 16 bytes each, looked up by arithmetic.
struct TileIndex: ~Copyable {
  struct Place {
    /// Of the local header; `Int.max` where the archive has no such tile.
    var headerOffset: Int
    var size: UInt32
    var crc: UInt32
  }

  let places: UnsafeMutableBufferPointer<Place>
  let levels: [LevelGrid]

  struct LevelGrid {
    let firstIndex: Int
    let columns: Int
    let rows: Int
  }

  init(_ pyramid: Pyramid) {
    self.init(pyramid, places: pyramid.tileCount)
    places.initialize(repeating: Place(headerOffset: .max, size: 0, crc: 0))
  }

  /// Numbers alone, for tiles that do not lie in one file.
  init(levelsOf pyramid: Pyramid) { self.init(pyramid, places: 0) }

  private init(_ pyramid: Pyramid, places count: Int) {
    places = .allocate(capacity: count)
    var levels: [LevelGrid] = []
    var first = 0
    for level in 0..<pyramid.levelCount {
      let (columns, rows) = (pyramid.columns(ofLevel: level), pyramid.rows(ofLevel: level))
      levels.append(LevelGrid(firstIndex: first, columns: columns, rows: rows))
      first += columns * rows
    }
    self.levels = levels
  }

  deinit { places.deallocate() }

  /// The tile's index, or nil outside the pyramid; the same as `Pyramid.index(of:)`, in constant time.
  func index(level: Int, column: Int, row: Int) -> Int? {
    guard level >= 0, level < levels.count else { return nil }
    let grid = levels[level]
    guard column >= 0, column < grid.columns, row >= 0, row < grid.rows else { return nil }
    return grid.firstIndex + row * grid.columns + column
  }
}

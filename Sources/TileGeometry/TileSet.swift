/// The tiles of one level that a coverage needs, as a run of columns for each row.
///
/// A viewport is convex and meets one unbroken run of columns in each row. A set needs memory for its rows only, for
/// any number of tiles. It has at most 65,536 rows: those nearest to the viewport's centre.
public struct TileSet: Hashable, Sendable {
  /// The level of all tiles of the set.
  public let level: Int
  /// The row of the first run.
  private let firstRow: Int
  /// The columns of each row from `firstRow` on.
  private let runs: [Range<Int>]

  /// The largest number of rows: more than any screen shows, and 1 MB of memory.
  static var maximumRows: Int { 1 << 16 }

  private init(level: Int, firstRow: Int, runs: [Range<Int>]) {
    self.level = level
    self.firstRow = firstRow
    self.runs = runs
  }

  /// Finds the tiles of a level that meet the visible area.
  ///
  /// - Parameters:
  ///   - area: the part of image space that the viewport shows.
  ///   - visible: the box around the visible part of the image, image space.
  ///   - center: the image point at the viewport's centre.
  init(pyramid: Pyramid, level: Int, area: VisibleArea, visible: Rect?, center: Point) {
    guard let visible else {
      self.init(level: level, firstRow: 0, runs: [])
      return
    }
    let cell = Double(pyramid.tileSize) / pyramid.scale(ofLevel: level)
    let (width, height) = (Double(pyramid.imageSize.width), Double(pyramid.imageSize.height))
    let rows = Self.nearest(
      Self.maximumRows,
      of: Self.cells(
        from: visible.y, to: visible.y + visible.height, cell: cell, count: pyramid.rows(ofLevel: level)),
      to: center.y / cell)
    let columnCount = pyramid.columns(ofLevel: level)
    var runs: [Range<Int>] = []
    runs.reserveCapacity(rows.count)
    for row in rows {
      let top = Double(row) * cell
      let extent = area.horizontalExtent(from: Swift.max(top, 0), to: Swift.min(top + cell, height))
      guard let extent, extent.low < width, extent.high > 0 else {
        runs.append(0..<0)
        continue
      }
      runs.append(
        Self.cells(
          from: Swift.max(extent.low, 0), to: Swift.min(extent.high, width), cell: cell, count: columnCount))
    }
    self.init(level: level, firstRow: rows.lowerBound, runs: runs)
  }

  /// Returns the tile columns or rows that [low, high) meets in more than a point; `low` is not negative.
  private static func cells(from low: Double, to high: Double, cell: Double, count: Int) -> Range<Int> {
    guard low < high else { return 0..<0 }
    // A quotient may be rounded across a tile's edge; the products are exact and decide.
    var first = Swift.max(Swift.min(Int(low / cell), count - 1), 0)
    while first > 0, Double(first) * cell > low { first -= 1 }
    while first < count, Double(first + 1) * cell <= low { first += 1 }
    var end = Swift.max(Swift.min(Int(high / cell) + 1, count), 1)
    while end > 1, Double(end - 1) * cell >= high { end -= 1 }
    while end < count, Double(end) * cell < high { end += 1 }
    return first < end ? first..<end : 0..<0
  }

  /// Returns at most `count` numbers of a range: those around `position`.
  private static func nearest(_ count: Int, of range: Range<Int>, to position: Double) -> Range<Int> {
    guard range.count > count else { return range }
    // Clamped while it is a Double: the viewport's centre may lie anywhere.
    let bounds = Double(range.lowerBound)...Double(range.upperBound - 1)
    let middle = Int(position.clamped(to: bounds, orIfNaN: bounds.lowerBound))
    let first = Swift.min(Swift.max(middle - count / 2, range.lowerBound), range.upperBound - count)
    return first..<first + count
  }

  /// The number of tiles.
  public var count: Int {
    var total = 0
    for run in runs { total += run.count }
    return total
  }

  /// Whether the set has no tiles.
  public var isEmpty: Bool { runs.allSatisfy { $0.isEmpty } }

  /// Whether a tile belongs to the set.
  public func contains(_ address: TileAddress) -> Bool {
    address.level == level && run(ofRow: address.row).contains(address.column)
  }

  /// Returns the columns of a row that belong to the set; an empty range outside it.
  func run(ofRow row: Int) -> Range<Int> {
    guard row >= firstRow, row < firstRow + runs.count else { return 0..<0 }
    return runs[row - firstRow]
  }

  /// Returns this set and the tiles within `margin` columns and rows of it, as far as the pyramid reaches.
  func widened(by margin: Int, in pyramid: Pyramid) -> TileSet {
    guard margin > 0, !isEmpty else { return self }
    let (columnCount, rowCount) = (pyramid.columns(ofLevel: level), pyramid.rows(ofLevel: level))
    let reach = Swift.min(margin, Swift.max(columnCount, rowCount))
    // The columns of each row are those of the rows within reach, so of a window that slides over all rows.
    let window = 2 * reach + 1
    let empty = (low: columnCount, high: 0)
    let padding = [(low: Int, high: Int)](repeating: empty, count: 2 * reach)
    var spans = padding + runs.map { $0.isEmpty ? empty : ($0.lowerBound, $0.upperBound) } + padding
    func joined(_ a: Int, _ b: Int) -> (low: Int, high: Int) {
      (Swift.min(spans[a].low, spans[b].low), Swift.max(spans[a].high, spans[b].high))
    }
    // Spans of one row become spans of 2, 4, 8 rows; two of them, which may overlap, make up the window.
    var length = 1
    while 2 * length <= window {
      for row in 0..<spans.count - length { spans[row] = joined(row, row + length) }
      length *= 2
    }
    let first = Swift.max(firstRow - reach, 0)
    let end = Swift.min(firstRow + runs.count + reach, rowCount)
    let wide = (first..<end).map { row in
      let start = row - (firstRow - reach)
      let (low, high) = joined(start, start + window - length)
      return low < high ? Swift.max(low - reach, 0)..<Swift.min(high + reach, columnCount) : 0..<0
    }
    return TileSet(level: level, firstRow: first, runs: wide)
  }

  /// Returns at most `limit` tiles of the set: those of a block of rows and columns around a tile.
  ///
  /// - Parameter tile: column and row as fractions of tiles, anywhere.
  func narrowed(to limit: Int, around tile: Point) -> TileSet {
    guard count > limit else { return self }
    guard limit > 0 else { return TileSet(level: level, firstRow: 0, runs: []) }
    let side = Self.squareRoot(limit)
    let widest = runs.lazy.map { $0.count }.max() ?? 0
    let rowCount = widest <= side ? limit / widest : Swift.min(runs.count, side)
    let rows = Self.nearest(rowCount, of: firstRow..<firstRow + runs.count, to: tile.y)
    let low = runs.lazy.filter { !$0.isEmpty }.map { $0.lowerBound }.min() ?? 0
    let high = runs.lazy.map { $0.upperBound }.max() ?? 0
    let columns = Self.nearest(limit / rows.count, of: low..<high, to: tile.x)
    return TileSet(
      level: level, firstRow: rows.lowerBound,
      runs: rows.map { row in run(ofRow: row).clamped(to: columns) })
  }

  /// Returns ⌊√number⌋ of a positive number, by Newton's method. `squareRoot()` calls the C library in debug builds.
  private static func squareRoot(_ number: Int) -> Int {
    var root = 1 << ((Int.bitWidth - number.leadingZeroBitCount + 1) / 2)
    while true {
      let next = (root + number / root) / 2
      if next >= root { return root }
      root = next
    }
  }
}

extension TileSet: Sequence {
  /// An iterator over the tiles of a set.
  public struct Iterator: IteratorProtocol {
    private let set: TileSet
    private var row = 0
    private var column = 0

    fileprivate init(_ set: TileSet) {
      self.set = set
      column = set.runs.first?.lowerBound ?? 0
    }

    /// Returns the next tile, or `nil` at the end.
    public mutating func next() -> TileAddress? {
      while row < set.runs.count {
        if column < set.runs[row].upperBound {
          defer { column += 1 }
          return TileAddress(level: set.level, column: column, row: set.firstRow + row)
        }
        row += 1
        if row < set.runs.count { column = set.runs[row].lowerBound }
      }
      return nil
    }
  }

  /// Returns an iterator over the tiles, row by row from the top, each row from the left.
  public func makeIterator() -> Iterator { Iterator(self) }

  /// The number of tiles.
  public var underestimatedCount: Int { count }
}

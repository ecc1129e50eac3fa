/// Tiles of one level as one run of columns per row, the runs from `firstRow` on.
///
/// A convex area meets one unbroken run of columns in each row.
struct CoveredRows {
  let level: Int
  private let pyramid: Pyramid
  private let firstRow: Int
  private let runs: [Range<Int>]
  /// The runs to leave out, row by row, where this is a ring.
  private let hole: [Range<Int>]

  init(pyramid: Pyramid, level: Int, area: VisibleArea, visible: Rect?) {
    self.pyramid = pyramid
    self.level = level
    hole = []
    guard let visible else {
      firstRow = 0
      runs = []
      return
    }
    let cell = Double(pyramid.tileSize) / pyramid.scale(ofLevel: level)
    let (width, height) = (Double(pyramid.imageSize.width), Double(pyramid.imageSize.height))
    let rows = Self.cells(
      from: visible.y, to: visible.y + visible.height, cell: cell, count: pyramid.rows(ofLevel: level))
    let columnCount = pyramid.columns(ofLevel: level)
    var runs: [Range<Int>] = []
    runs.reserveCapacity(rows.count)
    for row in rows {
      let top = Double(row) * cell
      let extent = area.horizontalExtent(from: max(top, 0), to: min(top + cell, height))
      guard let extent, extent.low < width, extent.high > 0 else {
        runs.append(0..<0)
        continue
      }
      runs.append(
        Self.cells(from: max(extent.low, 0), to: min(extent.high, width), cell: cell, count: columnCount))
    }
    firstRow = rows.lowerBound
    self.runs = runs
  }

  private init(_ pyramid: Pyramid, _ level: Int, _ firstRow: Int, _ runs: [Range<Int>], _ hole: [Range<Int>])
  {
    (self.pyramid, self.level, self.firstRow, self.runs, self.hole) = (pyramid, level, firstRow, runs, hole)
  }

  /// The cells that [low, high) meets in more than a point, low ≥ 0.
  private static func cells(from low: Double, to high: Double, cell: Double, count: Int) -> Range<Int> {
    guard low < high else { return 0..<0 }
    // A quotient may round across a cell's edge; the products are exact, so they decide.
    var first = max(min(Int(low / cell), count - 1), 0)
    while first > 0, Double(first) * cell > low { first -= 1 }
    while first < count, Double(first + 1) * cell <= low { first += 1 }
    var end = max(min(Int(high / cell) + 1, count), 1)
    while end > 1, Double(end - 1) * cell >= high { end -= 1 }
    while end < count, Double(end) * cell < high { end += 1 }
    return first < end ? first..<end : 0..<0
  }

  var count: Int {
    var total = 0
    for (index, run) in runs.enumerated() { total += run.count - (hole.isEmpty ? 0 : hole[index].count) }
    return total
  }

  func visit(_ body: (_ column: Int, _ row: Int) -> Void) {
    for (index, run) in runs.enumerated() {
      let skipped = hole.isEmpty ? 0..<0 : hole[index]
      for column in run where !skipped.contains(column) { body(column, firstRow + index) }
    }
  }

  /// The tiles within `margin` columns and rows of these, without these.
  func ring(_ margin: Int) -> CoveredRows {
    guard runs.contains(where: { !$0.isEmpty }) else { return self }
    let columnCount = pyramid.columns(ofLevel: level)
    let reach = min(margin, max(columnCount, pyramid.rows(ofLevel: level)))
    let first = max(firstRow - reach, 0)
    let end = min(firstRow + runs.count + reach, pyramid.rows(ofLevel: level))
    var wide: [Range<Int>] = []
    var own: [Range<Int>] = []
    for row in first..<end {
      var (low, high) = (columnCount, 0)
      for near in max(row - reach, firstRow)...min(row + reach, firstRow + runs.count - 1) {
        let other = runs[near - firstRow]
        if other.isEmpty { continue }
        low = min(low, other.lowerBound)
        high = max(high, other.upperBound)
      }
      wide.append(low < high ? max(low - reach, 0)..<min(high + reach, columnCount) : 0..<0)
      own.append(row >= firstRow && row < firstRow + runs.count ? runs[row - firstRow] : 0..<0)
    }
    return CoveredRows(pyramid, level, first, wide, own)
  }

  /// The tile's own cell without overlap, image space, cut at the image's edge.
  func imageRect(column: Int, row: Int) -> Rect {
    let cell = Double(pyramid.tileSize) / pyramid.scale(ofLevel: level)
    let (left, top) = (Double(column) * cell, Double(row) * cell)
    let right = min(left + cell, Double(pyramid.imageSize.width))
    let bottom = min(top + cell, Double(pyramid.imageSize.height))
    return Rect(x: left, y: top, width: right - left, height: bottom - top)
  }
}

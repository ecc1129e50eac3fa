/// The strips in work, by level, and the memory of those that are done, which the next ones take over.
/// For one thread at a time.
struct StripPool {
  private let levels: [StripLevel]
  private let source: any StripSource
  private let blocks: BlockPool
  /// Strips of the levels above full resolution that are not done.
  private var open: [[Strip]]
  private var free: [[Strip]]

  init(_ levels: [StripLevel], _ source: any StripSource) {
    self.levels = levels
    self.source = source
    blocks = BlockPool(byteCount: levels[0].block.byteCount)
    open = levels.map { _ in [] }
    free = open
  }

  /// A strip of full resolution to decode into.
  mutating func takeTop(row: Int) -> Strip {
    let strip = take(0, row: row)
    if !source.hasReadyTiles {
      for column in 0..<strip.columns { strip.setBlock(blocks.take(), column) }
    }
    return strip
  }

  /// The strip that tiles of `strip` are shrunk into, with memory for them; nil where it is the smallest.
  mutating func parent(of strip: Strip, _ tiles: Range<Int>) -> Strip? {
    let (shift, row) = (strip.shift + 1, strip.row / 2)
    guard shift < levels.count else { return nil }
    let parent: Strip
    if let known = open[shift].first(where: { $0.row == row }) {
      parent = known
    } else {
      parent = take(shift, row: row)
      open[shift].append(parent)
    }
    for column in tiles.lowerBound / 2...(tiles.upperBound - 1) / 2 where !parent.hasBlock(column) {
      parent.setBlock(blocks.take(), column)
    }
    return parent
  }

  /// A tile that is encoded and shrunk needs its pixels no more.
  func withdraw(tile column: Int, of strip: Strip) {
    if let block = strip.takeBlock(column) { blocks.give(block) }
  }

  mutating func withdraw(_ strip: Strip) {
    open[strip.shift].removeAll { $0 === strip }
    free[strip.shift].append(strip)
  }

  private mutating func take(_ shift: Int, row: Int) -> Strip {
    let strip =
      free[shift].popLast()
      ?? Strip(levels[shift], coefficientCount: shift == 0 ? source.coefficientsPerStrip : 0)
    strip.begin(row: row)
    return strip
  }
}

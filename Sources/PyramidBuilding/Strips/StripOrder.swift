/// The order in which strips stand in the archive: the order in which a single thread would finish
/// them, each coarser strip right after the last one it was shrunk from.
///
/// A fixed order makes the archive's bytes the same however many threads race; this one keeps the
/// wait for a strip's turn short.
struct StripOrder {
  private let rows: [Int]
  /// The strip whose turn it is.
  private(set) var shift = 0
  private(set) var row = 0
  private var nextTopRow = 1

  /// - Parameter rows: of tiles in each level, full resolution first.
  init(rows: [Int]) { self.rows = rows }

  var isFinished: Bool { shift == 0 && row >= rows[0] }

  mutating func advance() {
    let isLast = row == rows[shift] - 1
    if shift + 1 < rows.count, row % 2 == 1 || isLast {
      shift += 1
      row /= 2
    } else {
      shift = 0
      row = nextTopRow
      nextTopRow += 1
    }
  }
}

/// Strips whose tiles are encoded, until they are written to the archive in their order.
///
/// The order is that in which a single thread would finish them: each coarser strip right after the last one that it
/// was shrunk from. A fixed order makes the archive's bytes the same however many threads race. This one keeps the wait
/// for a strip's turn short.
struct StripQueue {
  private struct Key: Hashable {
    var shift: Int
    var row: Int
  }

  private let rows: [Int]
  private var waiting: [Key: [EncodedTile]] = [:]
  /// The strip that is written next.
  private var turn = Key(shift: 0, row: 0)
  private var nextTopRow = 1

  /// - Parameter rows: of tiles in each level, full resolution first.
  init(rows: [Int]) { self.rows = rows }

  mutating func append(_ tiles: [EncodedTile], shift: Int, row: Int) {
    waiting[Key(shift: shift, row: row)] = tiles
  }

  /// Returns the strip that is written next; `nil` if it is not encoded yet.
  mutating func next() -> (tiles: [EncodedTile], shift: Int, row: Int)? {
    let (shift, row) = (turn.shift, turn.row)
    guard let tiles = waiting.removeValue(forKey: turn) else { return nil }
    if shift + 1 < rows.count, row % 2 == 1 || row == rows[shift] - 1 {
      turn = Key(shift: shift + 1, row: row / 2)
    } else {
      turn = Key(shift: 0, row: nextTopRow)
      nextTopRow += 1
    }
    return (tiles, shift, row)
  }

  /// Frees the tiles that wait.
  func deallocate() {
    for tile in waiting.values.joined() { tile.bytes.deallocate() }
  }
}

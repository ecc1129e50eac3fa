/// Strips whose tiles are encoded, until it is their turn to stand in the archive.
struct StripQueue {
  private struct Key: Hashable {
    let shift: Int
    let row: Int
  }

  private var waiting: [Key: [EncodedTile]] = [:]
  private var order: StripOrder

  init(_ order: StripOrder) { self.order = order }

  mutating func append(_ tiles: [EncodedTile], shift: Int, row: Int) {
    waiting[Key(shift: shift, row: row)] = tiles
  }

  /// The strip whose turn it is; nil where that one is not encoded yet.
  mutating func next() -> (tiles: [EncodedTile], shift: Int, row: Int)? {
    let (shift, row) = (order.shift, order.row)
    guard let tiles = waiting.removeValue(forKey: Key(shift: shift, row: row)) else { return nil }
    order.advance()
    return (tiles, shift, row)
  }

  /// Frees the tiles that wait.
  func deallocate() {
    for tile in waiting.values.joined() { tile.bytes.deallocate() }
  }
}

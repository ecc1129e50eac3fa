/// A number for each tile: level by level from level 0, row by row, column by column.
extension Pyramid {
  /// Returns the index of the first tile of a level.
  ///
  /// - Parameter level: clamped to `0...levelCount`; the index after the last tile belongs to `levelCount`.
  public func firstIndex(ofLevel level: Int) -> Int {
    var index = 0
    for lower in 0..<min(max(level, 0), levelCount) {
      index += columns(ofLevel: lower) * rows(ofLevel: lower)
    }
    return index
  }

  /// Returns the index of a tile, or `nil` outside the pyramid. Inverse of `address(at:)`.
  public func index(of address: TileAddress) -> Int? {
    guard contains(address) else { return nil }
    return firstIndex(ofLevel: address.level) + address.row * columns(ofLevel: address.level)
      + address.column
  }

  /// Returns the tile with an index, or `nil` outside `0..<tileCount`. Inverse of `index(of:)`.
  public func address(at index: Int) -> TileAddress? {
    guard index >= 0, index < tileCount else { return nil }
    var rest = index
    var level = 0
    while true {
      let columns = columns(ofLevel: level)
      let count = columns * rows(ofLevel: level)
      if rest < count { return TileAddress(level: level, column: rest % columns, row: rest / columns) }
      rest -= count
      level += 1
    }
  }
}

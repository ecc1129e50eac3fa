package import ZigguratFiles

/// Where an archive's tiles lie and how they are had; a mapped ZIP has a way of its own in `TileArchive`, which costs
/// a stored tile nothing. Bytes that were given live as long as this.
package protocol TileBacking: AnyObject, Sendable {
  /// What is at the tile's place now; never waits. What is not here yet is fetched from then on.
  func tile(_ number: Int) -> StoredTile

  /// Returns a copy of the tile once it has come; `nil` if the archive was written without it. A file that others cut
  /// short meanwhile is an error.
  /// - Parameter action: the verb and the tile, for the error.
  func copy(ofTile number: Int, _ action: String) throws(StorageError) -> [UInt8]?

  /// The same as `tile`, and nothing is fetched: nil of a tile that is not here.
  func tileHere(_ number: Int) -> StoredTile?

  /// Has all these tiles fetched that are not here yet, with as few questions as that takes; never waits.
  func expect(_ numbers: [Int])

  /// The stamp that `tile` would give, without the tile; nil where there is no such tile.
  func stamp(ofTile number: Int) -> UInt64?

  /// Whether tiles change while the archive's generation stays.
  var hasStamps: Bool { get }

  /// Whether tiles may be not here yet.
  var mayBeLate: Bool { get }

  /// Which levels have any tiles.
  var levels: LevelSet { get }

  /// The numbers of the tiles that there are, in their order; nil where it takes a look at each place to tell.
  func numbersOfTiles() -> [Int]?

  /// Bytes that are not a tile, as `TileArchive.entry` gives them.
  func entry(_ relativeName: String) -> UnsafeRawBufferPointer?

  /// The names of the entries that are not tiles, sorted.
  var entryNames: [String] { get }

  /// Bytes of all that is stored; nil where nobody has added them up.
  var byteCount: Int? { get }

  /// Whether it holds so much that the image should be opened anew.
  var isWornOut: Bool { get }

  /// Whether what it gave must not be kept any longer by anyone: the private space is locked.
  var isLocked: Bool { get }
}

/// What is so of tiles that are all there, at once, and never change.
extension TileBacking {
  package func copy(ofTile number: Int, _ action: String) throws(StorageError) -> [UInt8]? {
    try awaited(number).required(action).map { Array($0) }
  }

  package func tileHere(_ number: Int) -> StoredTile? { tile(number) }

  package func expect(_ numbers: [Int]) { for number in numbers { _ = tile(number) } }

  package var hasStamps: Bool { false }

  package var mayBeLate: Bool { false }

  package var levels: LevelSet { .all }

  package func numbersOfTiles() -> [Int]? { nil }

  package func entry(_ relativeName: String) -> UnsafeRawBufferPointer? { nil }

  package var entryNames: [String] { [] }

  package var byteCount: Int? { nil }

  package var isWornOut: Bool { false }

  package var isLocked: Bool { false }
}

extension TileBacking {
  /// What is at the tile's place once it has come: never `.pending`. Not for threads that others wait for.
  func awaited(_ number: Int) -> StoredTile {
    for _ in 0..<TileArchive.patience {
      let stored = tile(number)
      guard case .pending(let pending) = stored else { return stored }
      pending.wait()
    }
    return .unreachable
  }
}

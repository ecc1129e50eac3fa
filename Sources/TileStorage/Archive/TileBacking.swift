package import ZigguratFiles

/// The storage of an archive's tiles. A mapped ZIP is read directly by `TileArchive`, at no cost for a stored tile.
/// Returned bytes are valid as long as the storage.
package protocol TileBacking: AnyObject, Sendable {
  /// Returns the present state of the tile; never blocks. If the tile is not in memory, starts to fetch it.
  func tile(_ number: Int) -> StoredTile

  /// Returns a copy of the tile after it was fetched; nil if the archive was written without it. If another process
  /// truncates the file meanwhile, throws an error.
  /// - Parameter action: the verb and the tile, for the error.
  func copy(ofTile number: Int, _ action: String) throws(StorageError) -> [UInt8]?

  /// Returns the state of the tile like `tile`, but fetches nothing; nil if the tile is not in memory.
  func tileHere(_ number: Int) -> StoredTile?

  /// Starts to fetch those of the tiles that are not in memory, with as few requests as possible; never blocks.
  func expect(_ numbers: [Int])

  /// Returns the version that `tile` would return, without the tile; nil if there is no such tile.
  func version(ofTile number: Int) -> UInt64?

  /// Whether tiles change while the archive's generation stays.
  var hasTileVersions: Bool { get }

  /// Whether tiles may have to be fetched.
  var isRemote: Bool { get }

  /// The levels that have any tiles.
  var levels: LevelSet { get }

  /// Returns the numbers of the existing tiles, in ascending order; nil if only a check of each place can find them.
  func numbersOfTiles() -> [Int]?

  /// Returns the bytes of an entry that is not a tile, as `TileArchive.entry` does.
  func entry(_ relativeName: String) -> UnsafeRawBufferPointer?

  /// The names of the entries that are not tiles, sorted.
  var entryNames: [String] { get }

  /// The size of everything stored in bytes; nil if it is unknown.
  var byteCount: Int? { get }

  /// Whether it occupies so much memory that the image should be reopened.
  var shouldReopen: Bool { get }

  /// Whether returned bytes must not be kept any longer, because the private space is locked.
  var isLocked: Bool { get }
}

/// Defaults for tiles that are all in memory and never change.
extension TileBacking {
  package func copy(ofTile number: Int, _ action: String) throws(StorageError) -> [UInt8]? {
    try waitForTile(number).required(action).map { Array($0) }
  }

  package func tileHere(_ number: Int) -> StoredTile? { tile(number) }

  package func expect(_ numbers: [Int]) { for number in numbers { _ = tile(number) } }

  package var hasTileVersions: Bool { false }

  package var isRemote: Bool { false }

  package var levels: LevelSet { .all }

  package func numbersOfTiles() -> [Int]? { nil }

  package func entry(_ relativeName: String) -> UnsafeRawBufferPointer? { nil }

  package var entryNames: [String] { [] }

  package var byteCount: Int? { nil }

  package var shouldReopen: Bool { false }

  package var isLocked: Bool { false }
}

extension TileBacking {
  /// Returns the state of the tile after it was fetched: never `.pending`. Not for threads on which others depend.
  func waitForTile(_ number: Int) -> StoredTile {
    for _ in 0..<TileArchive.maxAttempts {
      let stored = tile(number)
      guard case .pending(let pending) = stored else { return stored }
      pending.wait()
    }
    return .unreachable
  }
}

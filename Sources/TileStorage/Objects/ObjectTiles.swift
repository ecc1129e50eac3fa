import Synchronization

/// The tiles of an open archive in an object store. Returned bytes stay valid as long as this object.
final class ObjectTiles: TileBacking {
  private struct Held {
    var tiles: [Int: ObjectBytes] = [:]
    var entries: [String: ObjectBytes] = [:]
    var bytes = 0
  }

  private let image: ObjectImage
  private let held = Mutex(Held())
  /// The number of bytes above which the archive is reopened.
  private static let maximum = 16 << 20
  /// If all archives together keep much, those that keep less than this are not reopened.
  private static let least = 256 << 10

  init(_ image: ObjectImage) { self.image = image }

  deinit { image.memory.release(held.withLock { $0.bytes }) }

  var isRemote: Bool { true }

  var levels: LevelSet { image.contents.levels }

  var byteCount: Int? { image.version.byteCount }

  var shouldReopen: Bool {
    let bytes = held.withLock { $0.bytes }
    return bytes > Self.maximum || (bytes > Self.least && image.memory.isUnavailable) || image.isReplaced
  }

  func tile(_ number: Int) -> StoredTile {
    if let here = tileHere(number) { return here }
    image.memory.countMiss()
    return .pending(image.fetch(number, for: self))
  }

  func expect(_ numbers: [Int]) {
    let missing = Set(numbers).filter { tileHere($0) == nil }
    for _ in missing { image.memory.countMiss() }
    if !missing.isEmpty { image.fetch(missing.sorted(), for: self) }
  }

  func tileHere(_ number: Int) -> StoredTile? {
    if let tile = held.withLock({ $0.tiles[number] }) { return .here(tile.bytes, version: 0) }
    guard image.contents.place(number) != nil else {
      return image.contents.lacks(number) ? .notFound : .unreadable
    }
    if let tile = image.memory.tile(image.place(number)) {
      return .here(hold(tile, number).bytes, version: 0)
    }
    return switch image.failure(number) {
    case .unreachable: .unreachable
    case .unreadable: .unreadable
    case nil: nil
    }
  }

  /// Keeps the bytes of a tile that arrived first, and returns them from now on.
  @discardableResult
  func hold(_ tile: ObjectBytes, _ number: Int) -> ObjectBytes {
    held.withLock { held in
      if let first = held.tiles[number] { return first }
      held.tiles[number] = tile
      held.bytes += tile.bytes.count
      image.memory.hold(tile.bytes.count)
      return tile
    }
  }

  func version(ofTile number: Int) -> UInt64? { image.contents.place(number) == nil ? nil : 0 }

  func numbersOfTiles() -> [Int]? { nil }

  func entry(_ relativeName: String) -> UnsafeRawBufferPointer? {
    if let bytes = held.withLock({ $0.entries[relativeName] }) { return bytes.bytes }
    guard let bytes = image.entry(relativeName) else { return nil }
    return held.withLock { held in
      if let first = held.entries[relativeName] { return first.bytes }
      held.entries[relativeName] = bytes
      held.bytes += bytes.bytes.count
      image.memory.hold(bytes.bytes.count)
      return bytes.bytes
    }
  }

  var entryNames: [String] { image.contents.others.keys.sorted() }
}

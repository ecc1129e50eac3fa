import Synchronization
package import TileGeometry
import ZigguratConcurrency
import ZigguratFiles

/// The entry of an archive in an object store's index. It suffices to answer requests about the archive before it is
/// opened.
package struct ArchiveDescriptor: Sendable {
  package let version: ObjectVersion
  /// The name of the archive's root folder.
  package let name: String
  package let pyramid: Pyramid
  package let format: TileFormat
  package let generation: UInt64
  /// Returns an entry that is already known, by its name relative to the root folder.
  package let entries: @Sendable (_ relativeName: String) -> [UInt8]?

  /// - Parameter generation: the digest of the archive's own directory. An archive with another digest is not this one.
  package init(
    version: ObjectVersion, name: String, pyramid: Pyramid, format: TileFormat, generation: UInt64,
    entries: @escaping @Sendable (_ relativeName: String) -> [UInt8]?
  ) {
    self.version = version
    self.name = name
    self.pyramid = pyramid
    self.format = format
    self.generation = generation
    self.entries = entries
  }
}

/// An archive in an object store that is opened on the first request for a tile, and once for all requests.
package final class LazyArchive: Sendable {
  /// The open archive, as long as an archive holds it.
  private struct Current {
    weak var image: ObjectImage?
  }

  /// The reason why the archive is not open.
  enum OpenError: Error {
    case pending(any Pending)
    case unreachable
    case unreadable

    /// The time for which a failure to open it is remembered.
    fileprivate var rest: Duration? {
      switch self {
      case .pending: nil
      case .unreachable: .milliseconds(500)
      case .unreadable: .seconds(10)
      }
    }
  }

  package let listed: ArchiveDescriptor
  private let store: any ObjectReading
  private let memory: TileCache
  private let current = Mutex(Current())
  /// The opening of this one archive.
  private let opening = SingleFlight<Bool, Result<ObjectImage, OpenError>>()

  package init(_ listed: ArchiveDescriptor, from store: any ObjectReading, _ memory: TileCache) {
    self.listed = listed
    self.store = store
    self.memory = memory
  }

  /// The object version in the index.
  package var version: ObjectVersion { listed.version }

  /// Returns an archive that keeps the bytes that it returns; the store is not asked for it.
  package func archive() -> TileArchive {
    TileArchive(
      name: listed.name, pyramid: listed.pyramid, format: listed.format, generation: listed.generation,
      backing: LazyTiles(self))
  }

  /// The open archive; nil if it is not open, or the store has another version by now.
  var openImage: ObjectImage? {
    current.withLock { current in
      guard let image = current.image, !image.isReplaced else { return nil }
      return image
    }
  }

  /// Returns the open archive, or the reason why it is not open. Does not block; starts to open it if no other request
  /// has.
  ///
  /// - Parameter taker: keeps the archive once it is open.
  func opened(for taker: LazyTiles) -> Result<ObjectImage, OpenError> {
    if let image = openImage { return .success(image) }
    if let remembered = opening.remembered(true) { return remembered }
    let (flight, isNew) = opening.join(true)
    if isNew, let image = openImage {
      // Another request has opened it since.
      opening.land(true, .success(image))
      return .success(image)
    }
    flight.whenComplete { if case .success(let image) = $0 { taker.hold(image) } }
    if isNew {
      ObjectImage.open(
        key: listed.version.key, generation: listed.generation, from: store, memory
      ) { [self] in
        let result = checked($0)
        var rest: Duration?
        if case .failure(let lack) = result { rest = lack.rest }
        opening.land(true, result, rememberingFor: rest)
      }
    }
    return .failure(.pending(flight))
  }

  private func checked(_ result: Result<ObjectImage, StorageError>) -> Result<ObjectImage, OpenError> {
    switch result {
    case .success(let image):
      // Otherwise the store has another archive than the index lists.
      guard isListed(image) else { return .failure(.unreadable) }
      current.withLock { $0.image = image }
      return .success(image)
    // A listed archive should exist.
    case .failure(let error): return .failure(error.kind == .unreachable ? .unreachable : .unreadable)
    }
  }

  private func isListed(_ image: ObjectImage) -> Bool {
    let descriptor = image.contents.root.descriptor
    return descriptor.pyramid == listed.pyramid && descriptor.format == listed.format
      && image.contents.root.name == listed.name && image.version.byteCount == listed.version.byteCount
  }
}

/// The tiles of an archive that may not be open yet.
final class LazyTiles: TileBacking {
  private let image: LazyArchive
  private let inner = Mutex<ObjectTiles?>(nil)
  /// Requested entries that were found in the index.
  private let fetched = Mutex<[String: ObjectBytes]>([:])

  init(_ image: LazyArchive) { self.image = image }

  var isRemote: Bool { true }

  var byteCount: Int? { image.listed.version.byteCount }

  var shouldReopen: Bool { inner.withLock { $0?.shouldReopen ?? false } }

  func tile(_ number: Int) -> StoredTile {
    switch tiles() {
    case .success(let tiles): tiles.tile(number)
    case .failure(.pending(let opening)): .pending(opening)
    case .failure(.unreachable): .unreachable
    case .failure(.unreadable): .unreadable
    }
  }

  /// Uses an archive that another request has opened; opens none itself.
  func tileHere(_ number: Int) -> StoredTile? {
    if let tiles = inner.withLock({ $0 }) { return tiles.tileHere(number) }
    return image.openImage.flatMap { hold($0).tileHere(number) }
  }

  func expect(_ numbers: [Int]) {
    // Requests that wait for the archive request all tiles again.
    if case .success(let tiles) = tiles() { tiles.expect(numbers) }
  }

  private func tiles() -> Result<ObjectTiles, LazyArchive.OpenError> {
    if let tiles = inner.withLock({ $0 }) { return .success(tiles) }
    return image.opened(for: self).map { hold($0) }
  }

  /// Keeps the open archive as long as these tiles.
  @discardableResult
  func hold(_ image: ObjectImage) -> ObjectTiles {
    inner.withLock { inner in
      if let inner { return inner }
      let tiles = ObjectTiles(image)
      inner = tiles
      return tiles
    }
  }

  /// Returns the tiles after the archive was opened, for threads that may block.
  private func waitForTile() -> ObjectTiles? {
    for _ in 0..<TileArchive.maxAttempts {
      switch tiles() {
      case .success(let tiles): return tiles
      case .failure(.pending(let opening)): opening.wait()
      case .failure(.unreachable), .failure(.unreadable): return nil
      }
    }
    return nil
  }

  /// Returns 0 for every tile. Listed archives are complete: each tile of the pyramid exists, and none changes.
  func version(ofTile number: Int) -> UInt64? {
    (0..<image.listed.pyramid.tileCount).contains(number) ? 0 : nil
  }

  /// Blocks for the store if the entry is not in the index.
  func entry(_ relativeName: String) -> UnsafeRawBufferPointer? {
    let known = fetched.withLock { fetched -> ObjectBytes? in
      if let bytes = fetched[relativeName] { return bytes }
      let bytes = image.listed.entries(relativeName).flatMap { ObjectBytes(copying: $0) }
      fetched[relativeName] = bytes
      return bytes
    }
    return known?.bytes ?? waitForTile()?.entry(relativeName)
  }

  var entryNames: [String] { waitForTile()?.entryNames ?? [] }
}

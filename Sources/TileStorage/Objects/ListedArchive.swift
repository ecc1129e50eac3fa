import Synchronization
package import TileGeometry
import ZigguratFiles
import ZigguratThreads

/// A library directory's entry of an archive in an object store: enough to answer requests about it before it is
/// opened.
package struct ListedArchive: Sendable {
  package let pin: ObjectPin
  /// The name of the archive's root folder.
  package let name: String
  package let pyramid: Pyramid
  package let format: TileFormat
  package let generation: UInt64
  /// Returns an entry that is already known, by its name relative to the root folder.
  package let entries: @Sendable (_ relativeName: String) -> [UInt8]?

  /// - Parameter generation: the digest of the archive's own directory. An archive with another digest is not this one.
  package init(
    pin: ObjectPin, name: String, pyramid: Pyramid, format: TileFormat, generation: UInt64,
    entries: @escaping @Sendable (_ relativeName: String) -> [UInt8]?
  ) {
    self.pin = pin
    self.name = name
    self.pyramid = pyramid
    self.format = format
    self.generation = generation
    self.entries = entries
  }
}

/// An archive in an object store that is opened on the first request for a tile, and once for all requests.
package final class ListedImage: Sendable {
  private struct State {
    weak var image: ObjectImage?
    /// Kept for the waiting requests, which are about to read it, because it has no other owner yet.
    var fresh: ObjectImage?

    /// The open archive, which is then no longer kept for the requests that waited for it.
    var current: ObjectImage? {
      mutating get {
        guard let image, !image.isReplaced else { return nil }
        fresh = nil
        return image
      }
    }
  }

  /// The reason why the archive is not open.
  enum Lack: Error {
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

  package let listed: ListedArchive
  private let store: any ObjectReading
  private let memory: ObjectMemory
  private let state = Mutex(State())
  /// The opening of this one archive: nil if it succeeded, and the archive is in `state`.
  private let opening = SingleFlight<Bool, Lack?>()

  package init(_ listed: ListedArchive, from store: any ObjectReading, _ memory: ObjectMemory) {
    self.listed = listed
    self.store = store
    self.memory = memory
  }

  /// The version in the directory.
  package var pin: ObjectPin { listed.pin }

  /// Returns an archive that keeps the bytes that it returns; the store is not asked for it.
  package func archive() -> TileArchive {
    TileArchive(
      name: listed.name, pyramid: listed.pyramid, format: listed.format, generation: listed.generation,
      backing: ListedTiles(self))
  }

  var isOpen: Bool { state.withLock { $0.image != nil } }

  /// Returns the open archive. Does not block; starts to open it if no other request has.
  func opened() -> Result<ObjectImage, Lack> {
    if let image = state.withLock({ $0.current }) { return .success(image) }
    if let lack = opening.remembered(true) ?? nil { return .failure(lack) }
    let (flight, isNew) = opening.join(true)
    if isNew, let image = state.withLock({ $0.current }) {
      // It has been opened since.
      opening.land(true, nil)
      return .success(image)
    }
    if isNew {
      ObjectImage.open(
        key: listed.pin.key, generation: listed.generation, from: store, memory
      ) { [self] in
        let lack = take($0)
        opening.land(true, lack, rememberingFor: lack?.rest)
      }
    }
    return .failure(.pending(flight))
  }

  private func take(_ result: Result<ObjectImage, StorageError>) -> Lack? {
    switch result {
    case .success(let image):
      // Otherwise the store has another archive than the directory lists.
      guard isListed(image) else { return .unreadable }
      state.withLock { state in
        state.image = image
        state.fresh = image
      }
      return nil
    // A listed archive should exist.
    case .failure(let error): return error.kind == .unreachable ? .unreachable : .unreadable
    }
  }

  private func isListed(_ image: ObjectImage) -> Bool {
    let descriptor = image.contents.root.descriptor
    return descriptor.pyramid == listed.pyramid && descriptor.format == listed.format
      && image.contents.root.name == listed.name && image.pin.byteCount == listed.pin.byteCount
  }
}

/// The tiles of an archive that may not be open yet.
final class ListedTiles: TileBacking {
  private let image: ListedImage
  private let inner = Mutex<ObjectTiles?>(nil)
  /// Requested entries that were found in the directory.
  private let told = Mutex<[String: ObjectBytes]>([:])

  init(_ image: ListedImage) { self.image = image }

  var mayBeLate: Bool { true }

  var byteCount: Int? { image.listed.pin.byteCount }

  var isWornOut: Bool { inner.withLock { $0?.isWornOut ?? false } }

  func tile(_ number: Int) -> StoredTile {
    switch tiles() {
    case .success(let tiles): tiles.tile(number)
    case .failure(.pending(let opening)): .pending(opening)
    case .failure(.unreachable): .unreachable
    case .failure(.unreadable): .unreadable
    }
  }

  /// Uses the archive only if another request has opened it.
  func tileHere(_ number: Int) -> StoredTile? {
    if let tiles = inner.withLock({ $0 }) { return tiles.tileHere(number) }
    guard image.isOpen, case .success(let tiles) = tiles() else { return nil }
    return tiles.tileHere(number)
  }

  func expect(_ numbers: [Int]) {
    // Requests that wait for the archive ask for all of them again.
    if case .success(let tiles) = tiles() { tiles.expect(numbers) }
  }

  private func tiles() -> Result<ObjectTiles, ListedImage.Lack> {
    inner.withLock { inner in
      if let inner { return .success(inner) }
      return image.opened().map { image in
        let tiles = ObjectTiles(image)
        inner = tiles
        return tiles
      }
    }
  }

  /// Returns the tiles after the archive was opened, for threads that may block.
  private func awaited() -> ObjectTiles? {
    for _ in 0..<TileArchive.patience {
      switch tiles() {
      case .success(let tiles): return tiles
      case .failure(.pending(let opening)): opening.wait()
      case .failure(.unreachable), .failure(.unreadable): return nil
      }
    }
    return nil
  }

  /// Returns 0 for every tile. Listed archives are whole: each tile of the pyramid exists, and none changes.
  func stamp(ofTile number: Int) -> UInt64? {
    (0..<image.listed.pyramid.tileCount).contains(number) ? 0 : nil
  }

  /// Blocks for the store if the entry is not in the directory.
  func entry(_ relativeName: String) -> UnsafeRawBufferPointer? {
    let known = told.withLock { told -> ObjectBytes? in
      if let bytes = told[relativeName] { return bytes }
      let bytes = image.listed.entries(relativeName).flatMap { ObjectBytes(copying: $0) }
      told[relativeName] = bytes
      return bytes
    }
    return known?.bytes ?? awaited()?.entry(relativeName)
  }

  var entryNames: [String] { awaited()?.entryNames ?? [] }
}

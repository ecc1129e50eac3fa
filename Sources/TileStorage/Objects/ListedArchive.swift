import Synchronization
package import TileGeometry
import ZigguratFiles

/// What a library's directory tells of an archive in an object store: enough to answer for it without having opened it.
package struct ListedArchive: Sendable {
  package let pin: ObjectPin
  /// Of the archive's root folder.
  package let name: String
  package let pyramid: Pyramid
  package let format: TileFormat
  package let generation: UInt64
  /// Entries of it that are known already, by the names below its root folder.
  package let entries: @Sendable (_ relativeName: String) -> [UInt8]?

  /// - Parameter generation: as the archive's own directory gives it; one that gives another is not this archive.
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

/// An archive in an object store that is opened by who first wants a tile of it, and once for all who want one.
package final class ListedImage: Sendable {
  private struct State {
    weak var image: ObjectImage?
    /// Who waits while it is being opened; nil while it is not.
    var waiting: [TileArrival.Observer]?
    /// Kept for those who waited and are about to ask, since nobody else has it.
    var fresh: ObjectImage?
    var failure: (kind: StorageError.Kind, until: ContinuousClock.Instant)?
  }

  /// What became of it.
  enum Opening {
    case open(ObjectImage)
    case coming(TileArrival)
    case failed(StorageError.Kind)
  }

  package let listed: ListedArchive
  private let store: any ObjectReading
  private let memory: ObjectMemory
  private let state = Mutex(State())
  /// How long it is remembered that it could not be opened.
  private static let rest = (unreachable: Duration.milliseconds(500), unreadable: Duration.seconds(10))

  package init(_ listed: ListedArchive, from store: any ObjectReading, _ memory: ObjectMemory) {
    self.listed = listed
    self.store = store
    self.memory = memory
  }

  /// The version that is listed.
  package var pin: ObjectPin { listed.pin }

  /// An archive of it, which holds what it gives; nothing is asked of the store for it.
  package func archive() -> TileArchive {
    TileArchive(
      name: listed.name, pyramid: listed.pyramid, format: listed.format, generation: listed.generation,
      backing: ListedTiles(self))
  }

  var isOpen: Bool { state.withLock { $0.image != nil } }

  /// Never waits; has it opened where it is not.
  func opened() -> Opening {
    let (opening, begins) = state.withLock { state -> (Opening, Bool) in
      if let image = state.image, !image.isReplaced {
        state.fresh = nil
        return (.open(image), false)
      }
      if let failure = state.failure {
        if failure.until > .now { return (.failed(failure.kind), false) }
        state.failure = nil
      }
      let begins = state.waiting == nil
      if begins { state.waiting = [] }
      return (.coming(TileArrival { [self] in observe($0) }), begins)
    }
    if begins {
      ObjectImage.open(
        key: listed.pin.key, generation: listed.generation, from: store, memory
      ) { [self] in take($0) }
    }
    return opening
  }

  private func observe(_ observer: TileArrival.Observer) {
    let isComing = state.withLock { state in
      state.waiting?.append(observer)
      return state.waiting != nil
    }
    if !isComing { observer.tell() }
  }

  private func take(_ result: Result<ObjectImage, StorageError>) {
    let waiting = state.withLock { state in
      switch result {
      case .success(let image) where isListed(image): (state.image, state.fresh) = (image, image)
      // The store has something else than the directory says.
      case .success: state.failure = (.unreadable, .now + Self.rest.unreadable)
      case .failure(let error):
        // What is listed should be there.
        let kind = error.kind == .notThere ? .unreadable : error.kind
        let rest = kind == .unreachable ? Self.rest.unreachable : Self.rest.unreadable
        state.failure = (kind, .now + rest)
      }
      defer { state.waiting = nil }
      return state.waiting ?? []
    }
    for observer in waiting { observer.tell() }
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
  /// Entries that were asked for, of those that the directory has told.
  private let told = Mutex<[String: ObjectBytes]>([:])

  init(_ image: ListedImage) { self.image = image }

  var mayBeLate: Bool { true }

  var byteCount: Int? { image.listed.pin.byteCount }

  var isWornOut: Bool { inner.withLock { $0?.isWornOut ?? false } }

  func tile(_ number: Int) -> StoredTile {
    switch tiles() {
    case .success(let tiles): tiles.tile(number)
    case .failure(.coming(let arrival)): .notHereYet(arrival)
    case .failure(.failed(.unreachable)): .unreachable
    case .failure(.failed(.notThere)), .failure(.failed(.unreadable)): .unreadable
    }
  }

  /// An archive that somebody else has opened counts; none is opened for it.
  func tileHere(_ number: Int) -> StoredTile? {
    if let tiles = inner.withLock({ $0 }) { return tiles.tileHere(number) }
    guard image.isOpen, case .success(let tiles) = tiles() else { return nil }
    return tiles.tileHere(number)
  }

  func expect(_ numbers: [Int]) {
    // Who waits for the archive asks for all of them again.
    if case .success(let tiles) = tiles() { tiles.expect(numbers) }
  }

  /// Why there are none.
  private enum Lack: Error {
    case coming(TileArrival)
    case failed(StorageError.Kind)
  }

  private func tiles() -> Result<ObjectTiles, Lack> {
    inner.withLock { inner in
      if let inner { return .success(inner) }
      switch image.opened() {
      case .coming(let arrival): return .failure(.coming(arrival))
      case .failed(let kind): return .failure(.failed(kind))
      case .open(let image):
        let tiles = ObjectTiles(image)
        inner = tiles
        return .success(tiles)
      }
    }
  }

  /// The same for threads that may wait.
  private func awaited() -> ObjectTiles? {
    for _ in 0..<TileArchive.patience {
      switch tiles() {
      case .success(let tiles): return tiles
      case .failure(.coming(let arrival)): arrival.wait()
      case .failure(.failed): return nil
      }
    }
    return nil
  }

  /// Archives that are listed are whole: each tile of the pyramid is there, and none changes.
  func stamp(ofTile number: Int) -> UInt64? {
    (0..<image.listed.pyramid.tileCount).contains(number) ? 0 : nil
  }

  /// Waits for the store where the directory has not told it.
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

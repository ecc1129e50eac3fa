import Synchronization
package import ZigguratFiles
import ZigguratThreads

/// One version of an archive in an object store: what its directory says, and its tiles as they are fetched.
///
/// Every tile is checked before it is kept: its name in the header before it, and its CRC-32. However many ask for a tile,
/// it is fetched once.
package final class ObjectImage: Sendable {
  package let pin: ObjectPin
  // Written once, before it is shared.
  nonisolated(unsafe) let contents: SZIContents
  let memory: ObjectMemory
  private let number: Int
  private let store: any ObjectReading
  /// Entries that came with the directory.
  let entries: [String: ObjectBytes]
  private let state = Mutex(State())
  /// How long one answer of the store is waited for.
  static let patience = Duration.seconds(5)
  /// Bytes that are checked and copied on the store's own thread.
  private static let quickCount = 64 << 10
  /// How long it is remembered that a tile could not be had, so that who waited for it is told and asks no more.
  private static let rest = (unreachable: Duration.milliseconds(500), unreadable: Duration.seconds(10))

  /// What became of a tile that did not come.
  enum Failure: Sendable { case unreachable, unreadable }

  private struct Flight {
    /// Who has the tile once it comes, whatever the memory keeps.
    var takers: [ObjectTiles] = []
    var waiting: [TileArrival.Observer] = []
  }

  private struct State {
    var flights: [Int: Flight] = [:]
    var failures: [Int: (failure: Failure, until: ContinuousClock.Instant)] = [:]
    var isReplaced = false
  }

  init(
    _ pin: ObjectPin, _ contents: consuming SZIContents, entries: [String: ObjectBytes],
    from store: any ObjectReading, _ memory: ObjectMemory
  ) {
    self.pin = pin
    self.entries = entries
    self.store = store
    self.memory = memory
    self.contents = contents
    number = memory.numberOfImage()
  }

  /// An archive of it, which holds what it gives; another one costs nothing.
  package func archive() -> TileArchive {
    TileArchive(
      name: contents.root.name, pyramid: contents.root.descriptor.pyramid,
      format: contents.root.descriptor.format,
      fileExtension: contents.root.descriptor.fileExtension, generation: contents.generation,
      backing: ObjectTiles(self))
  }

  /// Whether the store has another version under the key.
  package var isReplaced: Bool { state.withLock { $0.isReplaced } }

  /// Nil where the tile is on its way, or may be fetched.
  func failure(_ number: Int) -> Failure? {
    state.withLock { state in
      guard let failed = state.failures[number] else { return nil }
      if failed.until > .now { return failed.failure }
      state.failures[number] = nil
      return nil
    }
  }

  /// Has the observer told once the tile has come or failed; at once where it is not on its way.
  func observe(_ number: Int, _ observer: TileArrival.Observer) {
    let isComing = state.withLock { state in
      guard state.flights[number] != nil else { return false }
      state.flights[number]?.waiting.append(observer)
      return true
    }
    if !isComing { observer.tell() }
  }

  /// Has the tiles fetched that are not on their way already, and gives them to `taker`.
  /// - Parameter numbers: of tiles that there are.
  func fetch(_ numbers: [Int], for taker: ObjectTiles) {
    let fresh = state.withLock { state in
      numbers.filter { number in
        if let flight = state.flights[number] {
          if !flight.takers.contains(where: { $0 === taker }) { state.flights[number]?.takers.append(taker) }
          return false
        }
        // Come since it was asked for.
        if let bytes = memory.tileAgain(place(number)) {
          taker.hold(bytes, number)
          return false
        }
        state.flights[number] = Flight(takers: [taker])
        return true
      }
    }
    for span in ObjectSpan.holding(fresh.compactMap(part)) { read(span, isLast: false) }
  }

  /// Where a tile lies with its header, if that has no more in it than ours.
  private func part(_ number: Int) -> ObjectSpan.Part? {
    guard let place = contents.place(number), let name = contents.name(ofTile: number) else { return nil }
    let start = min(place.headerOffset, pin.byteCount - 1)
    let end = start + ZIPRecord.localHeaderSize + name.count + Int(place.size)
    return ObjectSpan.Part(tile: number, range: start..<min(end, pin.byteCount))
  }

  private func read(_ span: ObjectSpan, isLast: Bool) {
    store.read(pin, span.range, by: .now + Self.patience) { [self] result in
      // A tile's bytes are looked through sooner than another thread is awake.
      if span.range.count <= Self.quickCount { return take(span, result, isLast: isLast) }
      _ = ObjectMemory.workers.submit(always: true) { [self] in take(span, result, isLast: isLast) }
    }
  }

  private func take(_ span: ObjectSpan, _ result: Result<ObjectBytes, ObjectFault>, isLast: Bool) {
    switch result {
    case .failure(let fault):
      if fault == .otherVersion { state.withLock { $0.isReplaced = true } }
      for part in span.parts { land(part.tile, nil, fault.failure) }
    case .success(let object):
      for part in span.parts {
        let bytes = UnsafeRawBufferPointer(
          rebasing: object.bytes[part.range.lowerBound - span.range.lowerBound..<object.bytes.count])
        if let tile = tile(part.tile, in: bytes) {
          // With one tile alone there is no more in memory than its header.
          let isAlone = span.parts.count == 1 && !isLast
          land(part.tile, isAlone ? ObjectBytes(tile, of: object) : ObjectBytes(copying: tile), .unreachable)
        } else if isLast {
          land(part.tile, nil, .unreadable)
        } else {
          // What came may have been damaged on its way, or have more in its header than ours.
          read(ObjectSpan(wider(part, bytes)), isLast: true)
        }
      }
    }
  }

  /// The tile behind the header with which the bytes begin; nil where they are not what was written.
  private func tile(_ number: Int, in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard let place = contents.place(number), let name = contents.name(ofTile: number),
      let tile = ZIPLocalEntry.data(in: bytes, headerOffset: 0, size: Int(place.size)),
      bytes.little16(at: 26) == name.count, bytes.dropFirst(ZIPRecord.localHeaderSize).starts(with: name),
      checksum(tile) == place.crc
    else { return nil }
    return tile
  }

  /// Keeps the tiles that lie in the object's end.
  func keepTiles(in end: ObjectBytes) {
    let start = pin.byteCount - end.bytes.count
    for (number, place) in contents.index.places.enumerated()
    where place.headerOffset >= start && place.headerOffset < pin.byteCount {
      let bytes = UnsafeRawBufferPointer(rebasing: end.bytes[(place.headerOffset - start)...])
      if let tile = tile(number, in: bytes).flatMap({ ObjectBytes(copying: $0) }) {
        memory.keep(tile, at: self.place(number))
      }
    }
  }

  private func wider(_ part: ObjectSpan.Part, _ bytes: UnsafeRawBufferPointer) -> ObjectSpan.Part {
    guard bytes.count >= ZIPRecord.localHeaderSize, bytes.little32(at: 0) == ZIPRecord.localHeader else {
      return part
    }
    let end = part.range.upperBound + bytes.little16(at: 28)
    return ObjectSpan.Part(tile: part.tile, range: part.range.lowerBound..<min(end, pin.byteCount))
  }

  /// The end of a tile's flight: whoever asked for it has it or is told.
  private func land(_ number: Int, _ bytes: ObjectBytes?, _ failure: Failure) {
    if let bytes { memory.keep(bytes, at: place(number)) }
    let flight = state.withLock { state in
      if bytes == nil {
        // Of very many none is worth remembering.
        if state.failures.count > 4096 { state.failures = [:] }
        state.failures[number] = (
          failure, .now + (failure == .unreachable ? Self.rest.unreachable : Self.rest.unreadable)
        )
      }
      let flight = state.flights.removeValue(forKey: number)
      // Before anybody can ask again.
      if let bytes { for taker in flight?.takers ?? [] { taker.hold(bytes, number) } }
      return flight
    }
    var others: [TileArrival.Observer] = []
    for observer in flight?.waiting ?? [] {
      if observer.isQuick { observer.tell() } else { others.append(observer) }
    }
    guard !others.isEmpty else { return }
    _ = ObjectMemory.workers.submit(always: true) { [others] in for observer in others { observer.tell() } }
  }

  func place(_ number: Int) -> ObjectMemory.Place {
    ObjectMemory.Place(image: self.number, tile: number)
  }

  /// The bytes of an entry that is no tile; waits for the store.
  func entry(_ relativeName: String) -> ObjectBytes? {
    if let bytes = entries[relativeName] { return bytes }
    guard let place = contents.others[relativeName] else { return nil }
    // Its name here, and whatever else its writer put into the header.
    let most = ZIPRecord.localHeaderSize + contents.root.name.utf8.count + 1 + relativeName.utf8.count + 256
    let start = min(place.headerOffset, pin.byteCount - 1)
    let range = start..<min(start + most + Int(place.size), pin.byteCount)
    guard let object = try? store.awaited(pin, range).get() else { return nil }
    guard let bytes = ZIPLocalEntry.data(in: object.bytes, headerOffset: 0, size: Int(place.size)),
      checksum(bytes) == place.crc
    else { return nil }
    return ObjectBytes(copying: bytes)
  }
}

extension ObjectFault {
  /// What it means for a tile that its archive names.
  fileprivate var failure: ObjectImage.Failure {
    switch self {
    // There should be one.
    case .missing, .unaskable: .unreadable
    case .otherVersion, .cut, .damaged, .refused, .unavailable, .insecure: .unreachable
    }
  }

  /// The same of an archive.
  func error(_ key: String) -> StorageError {
    StorageError("open the object \(key)", description, kind: kind)
  }

  /// What it means for who asks for the object.
  package var kind: StorageError.Kind {
    switch self {
    case .missing: .notThere
    case .unaskable: .unreadable
    case .otherVersion, .cut, .damaged, .refused, .unavailable, .insecure: .unreachable
    }
  }
}

extension ObjectReading {
  /// The same for a thread that may wait; not for the store's own.
  package func awaited(_ pin: ObjectPin, _ range: Range<Int>) -> Result<ObjectBytes, ObjectFault> {
    coming(pin, range).wait()
  }

  /// Asks for bytes that a thread will wait for.
  package func coming(_ pin: ObjectPin, _ range: Range<Int>) -> ComingBytes {
    let coming = ComingBytes()
    read(pin, range, by: .now + ObjectImage.patience) { coming.take($0) }
    return coming
  }
}

/// Bytes of an object that were asked for.
package final class ComingBytes: Sendable {
  private let found = Mutex<Result<ObjectBytes, ObjectFault>>(.failure(.cut))
  private let wakeUps = WakeUps()

  fileprivate init() {}

  fileprivate func take(_ result: Result<ObjectBytes, ObjectFault>) {
    found.withLock { $0 = result }
    wakeUps.signal()
  }

  /// Returns once they are there, or it is known why they are not; for one thread, once, and not for the store's own.
  package func wait() -> Result<ObjectBytes, ObjectFault> {
    wakeUps.wait()
    return found.withLock { $0 }
  }
}

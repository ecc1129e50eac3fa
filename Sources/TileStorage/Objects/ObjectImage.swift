import Synchronization
package import ZigguratConcurrency
package import ZigguratFiles

/// One version of an archive in an object store: its directory, and its tiles as they are fetched.
///
/// Every tile is checked before it is cached: its name in the header before it, and its CRC-32. Concurrent requests for
/// a tile share one fetch.
package final class ObjectImage: Sendable {
  package let version: ObjectVersion
  // Written once, before it is shared.
  nonisolated(unsafe) let contents: SZIContents
  let memory: TileCache
  private let number: Int
  private let store: any ObjectReading
  /// Entries that were read with the directory.
  let entries: [String: ObjectBytes]
  private let isOtherVersion = Atomic<Bool>(false)
  /// The fetches of tiles, by tile number.
  private let tiles = SingleFlight<Int, Result<ObjectBytes, Failure>>()
  /// The maximum time to wait for one answer of the store.
  static let timeout = Duration.seconds(5)
  /// The maximum number of bytes that are checked and copied on the store's own thread.
  private static let quickCount = 64 << 10

  /// The failure of a fetch.
  enum Failure: Error {
    case unreachable, unreadable

    /// The time for which it is remembered, so that the requests that waited for the tile do not fetch it again.
    var rest: Duration { self == .unreachable ? .milliseconds(500) : .seconds(10) }
  }

  init(
    _ version: ObjectVersion, _ contents: consuming SZIContents, entries: [String: ObjectBytes],
    from store: any ObjectReading, _ memory: TileCache
  ) {
    self.version = version
    self.entries = entries
    self.store = store
    self.memory = memory
    self.contents = contents
    number = memory.numberOfImage()
  }

  /// Returns an archive that keeps the bytes that it returns; another one costs nothing.
  package func archive() -> TileArchive {
    TileArchive(
      name: contents.root.name, pyramid: contents.root.descriptor.pyramid,
      format: contents.root.descriptor.format,
      fileExtension: contents.root.descriptor.fileExtension, generation: contents.generation,
      backing: ObjectTiles(self))
  }

  /// Whether the store has another version under the key.
  package var isReplaced: Bool { isOtherVersion.load(ordering: .relaxed) }

  /// Returns the recent failure of a fetch; nil if the tile is being fetched, or may be fetched.
  func failure(_ number: Int) -> Failure? {
    if case .failure(let failure)? = tiles.remembered(number) { failure } else { nil }
  }

  /// Fetches the tile, if it is not being fetched already, and gives it to `taker` before other observers.
  /// - Parameter number: a tile that the archive has.
  func fetch(_ number: Int, for taker: ObjectTiles) -> any Pending {
    let (flight, isNew) = join(number, taker)
    if isNew { fetch([number]) }
    return flight
  }

  /// Fetches the tiles that are not being fetched already, and gives them to `taker`.
  /// - Parameter numbers: tiles that the archive has.
  func fetch(_ numbers: [Int], for taker: ObjectTiles) { fetch(numbers.filter { join($0, taker).isNew }) }

  private func join(_ number: Int, _ taker: ObjectTiles) -> (flight: any Pending, isNew: Bool) {
    let (flight, isNew) = tiles.join(number)
    flight.whenComplete { result in
      // Independent of the cache's evictions.
      if case .success(let bytes) = result { taker.hold(bytes, number) }
    }
    return (flight, isNew)
  }

  private func fetch(_ numbers: [Int]) {
    var parts: [ReadRange.Part] = []
    for number in numbers {
      if let bytes = memory.tileAgain(place(number)) {
        // It has arrived since the request.
        tiles.land(number, .success(bytes))
      } else if let part = part(number) {
        parts.append(part)
      } else {
        tiles.land(number, .failure(.unreadable), rememberingFor: Failure.unreadable.rest)
      }
    }
    for span in ReadRange.holding(parts) { read(span, isLast: false) }
  }

  /// Returns the range of a tile with its header, if the header is no longer than this program's.
  private func part(_ number: Int) -> ReadRange.Part? {
    guard let place = contents.place(number), let name = contents.name(ofTile: number) else { return nil }
    let start = min(place.headerOffset, version.byteCount - 1)
    let end = start + ZIPRecord.localHeaderSize + name.count + Int(place.size)
    return ReadRange.Part(tile: number, range: start..<min(end, version.byteCount))
  }

  private func read(_ span: ReadRange, isLast: Bool) {
    store.read(version, span.range, by: .now + Self.timeout) { [self] result in
      // Checking a tile's bytes is faster than waking another thread.
      if span.range.count <= Self.quickCount { return take(span, result, isLast: isLast) }
      _ = TileCache.workers.submit(always: true) { [self] in take(span, result, isLast: isLast) }
    }
  }

  private func take(_ span: ReadRange, _ result: Result<ObjectBytes, ObjectError>, isLast: Bool) {
    switch result {
    case .failure(let error):
      if error == .otherVersion { isOtherVersion.store(true, ordering: .relaxed) }
      for part in span.parts { land(part.tile, .failure(error.failure)) }
    case .success(let object):
      for part in span.parts {
        let bytes = UnsafeRawBufferPointer(
          rebasing: object.bytes[part.range.lowerBound - span.range.lowerBound..<object.bytes.count])
        if let tile = tile(part.tile, in: bytes) {
          // A single tile shares its memory with its header alone.
          let isAlone = span.parts.count == 1 && !isLast
          let bytes = isAlone ? ObjectBytes(tile, of: object) : ObjectBytes(copying: tile)
          // Without memory for the copy, the tile is unavailable at present.
          land(part.tile, bytes.map { .success($0) } ?? .failure(.unreachable))
        } else if isLast {
          land(part.tile, .failure(.unreadable))
        } else {
          // The bytes may have been damaged in transit, or the header may be longer than this program's.
          read(ReadRange(wider(part, bytes)), isLast: true)
        }
      }
    }
  }

  /// Returns the tile behind the header with which the bytes begin; nil if they are not the bytes that were written.
  private func tile(_ number: Int, in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard let place = contents.place(number), let name = contents.name(ofTile: number),
      let tile = ZIPLocalEntry.data(in: bytes, headerOffset: 0, size: Int(place.size)),
      bytes.little16(at: 26) == name.count, bytes.dropFirst(ZIPRecord.localHeaderSize).starts(with: name),
      checksum(tile) == place.crc
    else { return nil }
    return tile
  }

  /// Caches the tiles that lie in the object's end.
  func keepTiles(in end: ObjectBytes) {
    let start = version.byteCount - end.bytes.count
    for (number, place) in contents.index.places.enumerated()
    where place.headerOffset >= start && place.headerOffset < version.byteCount {
      let bytes = UnsafeRawBufferPointer(rebasing: end.bytes[(place.headerOffset - start)...])
      if let tile = tile(number, in: bytes).flatMap({ ObjectBytes(copying: $0) }) {
        memory.keep(tile, at: self.place(number))
      }
    }
  }

  private func wider(_ part: ReadRange.Part, _ bytes: UnsafeRawBufferPointer) -> ReadRange.Part {
    guard bytes.count >= ZIPRecord.localHeaderSize, bytes.little32(at: 0) == ZIPRecord.localHeader else {
      return part
    }
    let end = part.range.upperBound + bytes.little16(at: 28)
    return ReadRange.Part(tile: part.tile, range: part.range.lowerBound..<min(end, version.byteCount))
  }

  private func land(_ number: Int, _ result: Result<ObjectBytes, Failure>) {
    switch result {
    case .success(let bytes):
      memory.keep(bytes, at: place(number))
      tiles.land(number, result)
    case .failure(let failure): tiles.land(number, result, rememberingFor: failure.rest)
    }
  }

  func place(_ number: Int) -> TileCache.Place {
    TileCache.Place(image: self.number, tile: number)
  }

  /// Returns the bytes of an entry that is not a tile; blocks for the store.
  func entry(_ relativeName: String) -> ObjectBytes? {
    if let bytes = entries[relativeName] { return bytes }
    guard let place = contents.others[relativeName] else { return nil }
    // The entry's name, and room for other fields that its writer put into the header.
    let most = ZIPRecord.localHeaderSize + contents.root.name.utf8.count + 1 + relativeName.utf8.count + 256
    let start = min(place.headerOffset, version.byteCount - 1)
    let range = start..<min(start + most + Int(place.size), version.byteCount)
    guard let object = try? store.waitForTile(version, range).get() else { return nil }
    guard let bytes = ZIPLocalEntry.data(in: object.bytes, headerOffset: 0, size: Int(place.size)),
      checksum(bytes) == place.crc
    else { return nil }
    return ObjectBytes(copying: bytes)
  }
}

extension ObjectError {
  /// The meaning of the error for a tile that its archive contains.
  fileprivate var failure: ObjectImage.Failure {
    switch self {
    // The tile should exist.
    case .missing, .invalidRequest: .unreadable
    case .otherVersion, .cut, .damaged, .refused, .unavailable, .insecure: .unreachable
    }
  }

  /// Returns the error for an archive.
  func error(_ key: String) -> StorageError {
    StorageError("open the object \(key)", description, kind: kind)
  }

  /// The meaning of the error for the caller.
  package var kind: StorageError.Kind {
    switch self {
    case .missing: .notFound
    case .invalidRequest: .unreadable
    case .otherVersion, .cut, .damaged, .refused, .unavailable, .insecure: .unreachable
    }
  }
}

extension ObjectReading {
  /// Returns the bytes of a range. For threads that may block, but not for the store's own.
  package func waitForTile(_ version: ObjectVersion, _ range: Range<Int>) -> Result<ObjectBytes, ObjectError>
  {
    pending(version, range).value()
  }

  /// Requests bytes for which a thread will wait.
  package func pending(_ version: ObjectVersion, _ range: Range<Int>) -> Future<
    Result<ObjectBytes, ObjectError>
  > {
    let flight = Future<Result<ObjectBytes, ObjectError>>()
    read(version, range, by: .now + ObjectImage.timeout) { flight.land($0) }
    return flight
  }
}

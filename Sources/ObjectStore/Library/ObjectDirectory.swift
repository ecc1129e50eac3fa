package import Files
import Synchronization
import Threads
package import TileStorage

/// What images there are in a library that lies in an object store.
///
/// A log: every builder adds segments of lines and nobody changes one, so that builders neither wait for each other nor
/// lose what another has written, on stores without conditional requests, too. `index` writes one segment that holds all and
/// removes those. Who reads asks for the list of segments, and for those that it has not read yet.
package final class ObjectDirectory: Sendable {
  struct Contents: Sendable {
    var records: [ImageID: ListedRecord] = [:]
    var origins: [ImageID: String] = [:]
    /// Of the segments that were read.
    var keys: Set<String> = []
    /// Differs with every change.
    var version = 0

    mutating func apply(_ lines: [DirectoryLine]) {
      for line in lines {
        switch line {
        case .image(let id, let record): records[id] = record
        case .gone(let id): (records[id], origins[id]) = (nil, nil)
        case .origin(let id, let root): origins[id] = root
        case .holds: break
        }
      }
    }
  }

  let address: ObjectAddress
  /// Where the store answers: who has set no address finds that of another here.
  private let endpoint: ObjectEndpoint
  private let reading: any ObjectReading
  private let writing: any ObjectWriting
  /// Of the folder of segments alone.
  private let list: any ObjectWriting
  private let tries: PatientTries
  private let contents = Mutex(Contents())
  /// Held while it is read or written.
  private let updating = Mutex<Void>(())
  /// - Parameter settings: of a store that is not asked yet.
  package init(
    _ address: ObjectAddress, _ settings: ObjectSettings, reading: any ObjectReading, tries: Int = 5
  ) {
    (self.address, endpoint) = (address, settings.endpoint)
    self.reading = reading
    self.tries = PatientTries(count: tries)
    writing = ObjectWriter(address, settings, tries: tries)
    // A prefix and a folder are one, again.
    list = ObjectWriter(address.below(DirectorySegment.folder), settings, tries: tries)
  }

  var current: Contents { contents.withLock { $0 } }

  /// How many images were found by the last `refresh`.
  package var count: Int { contents.withLock { $0.records.count } }

  /// Reads what builders wrote since; waits for the store.
  /// - Returns: a number that differs with every change.
  @discardableResult
  package func refresh() throws(StorageError) -> Int {
    let result: Result<Int, StorageError> = updating.withLock { _ in
      do throws(StorageError) { return .success(try read()) } catch { return .failure(error) }
    }
    return try result.get()
  }

  private func read() throws(StorageError) -> Int {
    let known = current
    guard let news = try news(since: known.keys) else { return known.version }
    var fresh = news.isWhole ? Contents() : known
    fresh.apply(news.lines)
    (fresh.keys, fresh.version) = (news.parts, known.version + 1)
    contents.withLock { [fresh] in $0 = fresh }
    return fresh.version
  }

  /// What builders wrote, for who knows some of it.
  struct News {
    /// In the order in which they count.
    let lines: [DirectoryLine]
    /// All that count now.
    let parts: Set<String>
    /// Whether nothing else counts, and not what was known.
    let isWhole: Bool
  }

  /// What builders wrote beside what is known; nil where that is nothing. Waits for the store.
  /// - Parameter known: the keys of the segments that were read.
  func news(since known: Set<String>) throws(StorageError) -> News? {
    // A segment that went between the list and the reading is in another one.
    for _ in 0..<8 {
      let listed = try told("list the library's directory") { () throws(ObjectFault) in
        try list.all(atMost: 1_000_000)
      }
      let keys = Set(listed.map(\.key))
      if keys == known { return nil }
      // Who puts parts together writes the whole before: there never is none again.
      if keys.isEmpty {
        throw StorageError("list the library's directory", "it is empty, and was not", kind: .unreachable)
      }
      do throws(ObjectFault) {
        let added = listed.filter { !known.contains($0.key) }
        // What only adds to what is known is read alone.
        let last = known.max()
        let isMore =
          known.isSubset(of: keys)
          && added.allSatisfy { pin in !pin.key.hasSuffix("-whole") && last.map { $0 < pin.key } ?? true }
        var segments: [DirectorySegment] = []
        for pin in isMore ? added : listed { segments.append(try segment(pin)) }
        let held = segments.reduce(into: Set<String>()) { $0.formUnion($1.holds) }
        let name = { (segment: DirectorySegment) in String(segment.pin.key.split(separator: "/").last ?? "") }
        // One that holds others stands before all that it does not hold, whatever their names are.
        segments = segments.filter { !held.contains(name($0)) }
        let ordered = segments.filter(\.isWhole) + segments.filter { !$0.isWhole }
        return News(lines: ordered.flatMap(\.lines), parts: keys, isWhole: !isMore)
      } catch {
        if error == .missing || error == .otherVersion { continue }
        throw told("read the library's directory", error)
      }
    }
    throw StorageError("read the library's directory", "it changes all the time", kind: .unreachable)
  }

  private func segment(_ pin: ObjectPin) throws(ObjectFault) -> DirectorySegment {
    guard pin.byteCount > 0, pin.byteCount <= DirectorySegment.longest else { throw .damaged }
    // `reading` has the patience of a server's, whose clients wait.
    let file = try tries.run { () throws(ObjectFault) in try reading.copy(pin) }
    let text = SegmentText(file, count: pin.byteCount)
    do throws(StorageError) { return try DirectorySegment(pin, text) } catch { throw .damaged }
  }

  /// Whether the archive of a line is in the store; waits for that.
  func holds(_ record: ListedRecord) throws(StorageError) -> Bool {
    let pin = ObjectPin(
      key: ListedRecord.key(record.digest, below: address.prefix), etag: record.etag,
      byteCount: record.byteCount)
    do throws(ObjectFault) {
      _ = try tries.run { () throws(ObjectFault) in
        try reading.awaited(pin, pin.byteCount - 1..<pin.byteCount).get()
      }
      return true
    } catch {
      if error == .missing || error == .otherVersion { return false }
      throw told("read \(pin.key)", error)
    }
  }

  // MARK: Writing

  /// Adds lines for everybody to read, and to what is known here.
  func add(_ lines: [[UInt8]]) throws(StorageError) {
    guard !lines.isEmpty else { return }
    let result: Result<Void, StorageError> = updating.withLock { _ in
      do throws(StorageError) {
        // Nobody's words are before what they change.
        _ = try read()
        try put(DirectorySegment.bytes(lines), after: current.keys.max(), isWhole: false)
        _ = try read()
        return .success(())
      } catch { return .failure(error) }
    }
    try result.get()
  }

  /// The same for who does not read what is known, which may be very much: behind all that is there.
  func append(_ lines: [[UInt8]]) throws(StorageError) {
    guard !lines.isEmpty else { return }
    let result: Result<Void, StorageError> = updating.withLock { _ in
      do throws(StorageError) {
        let listed = try told("list the library's directory") { () throws(ObjectFault) in
          try list.all(atMost: 1_000_000)
        }
        try put(DirectorySegment.bytes(lines), after: listed.map(\.key).max(), isWhole: false)
        return .success(())
      } catch { return .failure(error) }
    }
    try result.get()
  }

  /// Writes all in one segment and removes those that are in it.
  package func compact() throws(StorageError) {
    let result: Result<Void, StorageError> = updating.withLock { _ in
      do throws(StorageError) {
        _ = try read()
        let known = current
        guard known.keys.count > 1 else { return .success(()) }
        var lines = known.keys.sorted().map {
          DirectoryLine.text(
            holds: String($0.dropFirst(address.prefix.count + DirectorySegment.folder.count)))
        }
        for id in known.records.keys.sorted() {
          guard let line = known.records[id].flatMap({ Self.line(id, $0) }) else {
            throw StorageError("read the library's directory", "its lines cannot be read again")
          }
          lines.append(line)
          if let root = known.origins[id] { lines.append(DirectoryLine.text(origin: id, root)) }
        }
        try put(DirectorySegment.bytes(lines), after: current.keys.max(), isWhole: true)
        for key in known.keys {
          try told("remove \(key)") { () throws(ObjectFault) in try writing.remove(key) }
        }
        _ = try read()
        return .success(())
      } catch { return .failure(error) }
    }
    try result.get()
  }

  private static func line(_ id: ImageID, _ record: ListedRecord) -> [UInt8]? {
    guard let build = record.text.bytes(record.build), let words = record.text.bytes(record.words) else {
      return nil
    }
    return DirectoryLine.text(image: id, record, build: build, words: words)
  }

  private func put(_ bytes: [UInt8], after known: String?, isWhole: Bool) throws(StorageError) {
    let known = known.map {
      String($0.dropFirst(address.prefix.count + DirectorySegment.folder.count))
    }
    let key = address.prefix + DirectorySegment.folder + DirectorySegment.name(after: known, isWhole: isWhole)
    _ = try told("write the library's directory") { () throws(ObjectFault) in
      try writing.put(bytes: bytes, key: key)
    }
  }

  func told<Result>(
    _ action: String, _ body: () throws(ObjectFault) -> Result
  ) throws(StorageError) -> Result {
    do throws(ObjectFault) { return try body() } catch { throw told(action, error) }
  }

  private func told(_ action: String, _ fault: ObjectFault) -> StorageError {
    let reason = fault == .missing ? "there is no such bucket" : fault.description
    return StorageError("\(action) (\(address) at \(endpoint.url))", reason, kind: fault.kind)
  }
}

import Synchronization
package import TileStorage
import ZigguratConcurrency
package import ZigguratFiles

/// The index of the images of a library in an object store.
///
/// It is a log: builders add segments of lines, and never change one. Builders neither wait for each other nor lose
/// each other's lines, even on stores without conditional requests. `reindex` writes one segment with all lines, and
/// removes the others. A reader requests the list of segments, and then the segments that it has not read yet.
package final class LibraryIndex: Sendable {
  struct Contents: Sendable {
    var records: [ImageID: ListedRecord] = [:]
    var origins: [ImageID: String] = [:]
    /// The keys of the segments that were read.
    var keys: Set<String> = []
    /// Whether a segment should be rewritten for earlier versions of the program.
    var isOdd = false
    /// A number that differs after every change.
    var version = 0

    mutating func apply(_ lines: [IndexEntry]) {
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
  /// The folder of the segments.
  private let folder: ObjectAddress
  /// The address of the store, for messages. It shows a user the default address if none is set.
  private let endpoint: ObjectEndpoint
  private let reading: any ObjectReading
  private let writing: any ObjectWriting
  /// Lists the folder of the segments.
  private let list: any ObjectWriting
  private let tries: RetryPolicy
  private let strays: StrayObjects
  private let contents = Mutex(Contents())
  /// Held while the index is read or written.
  private let updating = Mutex<Void>(())

  /// - Parameters:
  ///   - settings: the settings of the store, which gets no request yet.
  ///   - strays: notified of other objects in the folder.
  package init(
    _ address: ObjectAddress, _ settings: ObjectSettings, reading: any ObjectReading,
    limits: RequestLimits = .builder, strays: StrayObjects = StrayObjects()
  ) {
    self.address = address
    endpoint = settings.endpoint
    self.reading = reading
    self.strays = strays
    tries = RetryPolicy(limits)
    writing = ObjectWriter(address, settings, limits: limits)
    folder = address.below(IndexSegment.folder)
    // A prefix with a folder is a prefix again.
    list = ObjectWriter(folder, settings, limits: limits)
  }

  var current: Contents { contents.withLock { $0 } }

  /// The number of images that the last `refresh` found.
  package var count: Int { contents.withLock { $0.records.count } }

  /// Reads the lines that builders have added. Waits for the store.
  /// - Returns: a number that differs after every change.
  @discardableResult
  package func refresh() throws(StorageError) -> Int {
    try updating.withLock { (_) throws(StorageError) in try read() }
  }

  private func read() throws(StorageError) -> Int {
    let known = current
    guard let news = try news(since: known.keys) else { return known.version }
    var fresh = news.isWhole ? Contents() : known
    fresh.apply(news.lines)
    fresh.keys = news.parts
    fresh.version = known.version + 1
    fresh.isOdd = fresh.isOdd || news.isOdd
    contents.withLock { [fresh] in $0 = fresh }
    return fresh.version
  }

  /// Lines that builders have added since the last read.
  struct News {
    /// The lines in the order in which they apply.
    let lines: [IndexEntry]
    /// The keys of all current segments.
    let parts: Set<String>
    /// Whether the lines replace everything that was known.
    let isWhole: Bool
    /// Whether a segment names something that is not a segment.
    let isOdd: Bool
  }

  /// Lists the segments, and reports other objects in their folder.
  private func segments() throws(StorageError) -> [ObjectVersion] {
    var stray: [[UInt8]] = []
    let listed = try reporting("list the library's directory") { () throws(ObjectError) in
      stray = []
      let listed = try list.all(atMost: 1_000_000) { stray.append($0) }
      // Without one of its segments, a library would lack images.
      guard !stray.contains(where: { IndexSegment.isName(name(String(decoding: $0, as: UTF8.self))) })
      else { throw .damaged }
      return listed
    }
    var own: [String: ObjectVersion] = [:]
    for version in listed {
      if IndexSegment.isName(name(version.key)) {
        own[version.key] = version
      } else {
        stray.append(Array(version.key.utf8))
      }
    }
    strays.note(stray, in: folder)
    // Later lines take precedence, whatever the order in which a store lists segments. The keys are ASCII.
    return own.values.sorted { $0.key < $1.key }
  }

  /// The name of a segment in its folder.
  private func name(_ key: String) -> String {
    // By bytes, as prefixes are compared.
    String(decoding: key.utf8.dropFirst(folder.prefix.utf8.count), as: UTF8.self)
  }

  /// Returns the lines that builders have added; nil if there are none. Waits for the store.
  /// - Parameter known: the keys of the segments that were read.
  func news(since known: Set<String>) throws(StorageError) -> News? {
    // A segment that was removed after the list is contained in another one.
    for _ in 0..<8 {
      let listed = try segments()
      let keys = Set(listed.map(\.key))
      if keys == known { return nil }
      // `compact` writes the new segment before it removes others, so there is always one.
      if keys.isEmpty {
        throw StorageError("list the library's directory", "it is empty, and was not", kind: .unreachable)
      }
      do throws(Unread) {
        let added = listed.filter { !known.contains($0.key) }
        // Segments that only add lines are read alone.
        let last = known.max()
        let isMore =
          known.isSubset(of: keys)
          && added.allSatisfy { version in
            !version.key.hasSuffix("-whole") && last.map { $0 < version.key } ?? true
          }
        var segments: [IndexSegment] = []
        for version in isMore ? added : listed { segments.append(try segment(version)) }
        let held = segments.reduce(into: Set<String>()) { $0.formUnion($1.holds) }
        let isOdd = segments.contains(where: \.isOdd)
        // A segment that contains others applies before all that it does not contain, whatever their names.
        segments = segments.filter { !held.contains(name($0.version.key)) }
        let ordered = segments.filter(\.isWhole) + segments.filter { !$0.isWhole }
        return News(lines: ordered.flatMap(\.lines), parts: keys, isWhole: !isMore, isOdd: isOdd)
      } catch {
        switch error {
        case .store(.missing, _), .store(.otherVersion, _): continue
        case .store(.damaged, let key):
          throw StorageError(
            "read \(key) (\(address) at \(endpoint.url))", "it is damaged, or ziggurat did not write it",
            kind: .unreachable)
        case .store(let error, let key): throw reporting("read \(key)", error)
        case .tooLong(let error): throw error
        }
      }
    }
    throw StorageError("read the library's directory", "it changes all the time", kind: .unreachable)
  }

  /// The reason why a segment was not read.
  private enum Unread: Error {
    case store(ObjectError, key: String)
    case tooLong(StorageError)
  }

  private func segment(_ version: ObjectVersion) throws(Unread) -> IndexSegment {
    do throws(StorageError) { try check(version) } catch { throw .tooLong(error) }
    do throws(ObjectError) {
      if version.byteCount > IndexSegment.shortest { try checkEnds(version) }
      // `reading` has the timeouts of a server, whose clients wait, so it is retried here.
      return try tries.run { () throws(ObjectError) in
        let text = SegmentText(try reading.copy(version), count: version.byteCount)
        do throws(StorageError) { return try IndexSegment(version, text) } catch { throw ObjectError.damaged }
      }
    } catch { throw .store(error, key: version.key) }
  }

  /// Throws if a segment is longer than the maximum, or if this machine has no room for it.
  private func check(_ version: ObjectVersion) throws(StorageError) {
    let action = "read \(version.key)"
    guard (1...IndexSegment.maxLength).contains(version.byteCount) else {
      throw StorageError(
        action, "it has \(version.byteCount) bytes; a segment has 1 to \(IndexSegment.maxLength)",
        kind: .unreachable)
    }
    guard version.byteCount > IndexSegment.shortest, let free = TemporaryFile.freeBytes else { return }
    guard version.byteCount < free else {
      throw StorageError(
        action, "it has \(version.byteCount) bytes, and the folder for temporary files has room for \(free)",
        kind: .unreachable)
    }
  }

  /// Throws if an object that takes long to read does not begin and end as a segment.
  private func checkEnds(_ version: ObjectVersion) throws(ObjectError) {
    let first = IndexSegment.first.utf8
    let last = version.byteCount - 64..<version.byteCount
    let (start, end) = try tries.run { () throws(ObjectError) in
      (try reading.waitForTile(version, 0..<first.count).get(), try reading.waitForTile(version, last).get())
    }
    let isSegment = withExtendedLifetime((start, end)) {
      start.bytes.elementsEqual(first) && end.bytes.firstRange(of: Array("\nend\t".utf8)) != nil
    }
    guard isSegment else { throw .damaged }
  }

  /// Whether the archive of a record is in the store. Waits for the store.
  func holds(_ record: ListedRecord) throws(StorageError) -> Bool {
    let version = ObjectVersion(
      key: ListedRecord.key(record.digest, below: address.prefix), etag: record.etag,
      byteCount: record.byteCount)
    do throws(ObjectError) {
      _ = try tries.run { () throws(ObjectError) in
        try reading.waitForTile(version, version.byteCount - 1..<version.byteCount).get()
      }
      return true
    } catch {
      if error == .missing || error == .otherVersion { return false }
      throw reporting("read \(version.key)", error)
    }
  }

  // MARK: Writing

  /// Adds lines to the index in the store, and to its contents here.
  func add(_ lines: [[UInt8]]) throws(StorageError) {
    guard !lines.isEmpty else { return }
    try updating.withLock { (_) throws(StorageError) in
      // New lines must come after the lines that they change.
      _ = try read()
      try put(IndexSegment.bytes(lines), after: current.keys.max(), isWhole: false)
      _ = try read()
    }
  }

  /// Adds lines after all others, without reading the index, which may be very large.
  func append(_ lines: [[UInt8]]) throws(StorageError) {
    guard !lines.isEmpty else { return }
    try updating.withLock { (_) throws(StorageError) in
      let listed = try segments()
      try put(IndexSegment.bytes(lines), after: listed.map(\.key).max(), isWhole: false)
    }
  }

  /// Writes all lines into one segment, reads it back, and removes the segments that it contains.
  package func compact() throws(StorageError) {
    try updating.withLock { (_) throws(StorageError) in
      _ = try read()
      let known = current
      guard known.keys.count > 1 || known.isOdd else { return }
      var lines = known.keys.sorted().map { IndexEntry.text(holds: name($0)) }
      for id in known.records.keys.sorted() {
        guard let line = known.records[id].flatMap({ Self.line(id, $0) }) else {
          throw StorageError("read the library's directory", "its lines cannot be read again")
        }
        lines.append(line)
        if let root = known.origins[id] { lines.append(IndexEntry.text(origin: id, root)) }
      }
      let bytes = IndexSegment.bytes(lines)
      let version = try put(bytes, after: known.keys.max(), isWhole: true)
      try confirm(version, SHA256.of(bytes), known)
      for key in known.keys {
        try reporting("remove \(key)") { () throws(ObjectError) in try writing.remove(key) }
      }
      _ = try read()
    }
  }

  private static func line(_ id: ImageID, _ record: ListedRecord) -> [UInt8]? {
    guard let build = record.text.bytes(record.build), let metadata = record.text.bytes(record.metadata)
    else {
      return nil
    }
    return IndexEntry.text(image: id, record, build: build, metadata: metadata)
  }

  /// Reads back a segment that is to replace others. If it differs from what was written, it is removed.
  /// - Parameters:
  ///   - digest: the SHA-256 of the bytes that were written.
  ///   - known: the expected contents.
  private func confirm(_ version: ObjectVersion, _ digest: [UInt8], _ known: Contents) throws(StorageError) {
    let action = "read \(version.key) back"
    do throws(StorageError) {
      let file: TemporaryFile
      do throws(ObjectError) {
        file = try tries.run { () throws(ObjectError) in
          var sha256 = SHA256()
          let file = try reading.copy(version) { sha256.update($0) }
          guard sha256.digest() == digest else { throw .damaged }
          return file
        }
      } catch { throw StorageError(action, error.description, kind: .unreachable) }
      let segment = try IndexSegment(version, SegmentText(file, count: version.byteCount))
      var found = Contents()
      found.apply(segment.lines)
      let isEqual =
        segment.holds == Set(known.keys.map(name))
        && found.origins == known.origins.filter { known.records[$0.key] != nil }
        && found.records.count == known.records.count
        && found.records.allSatisfy { id, record in known.records[id].map { $0.isSame(as: record) } ?? false }
      guard isEqual else {
        throw StorageError(action, "it is not what the library's directory holds")
      }
      guard try segments().contains(where: { $0.key == version.key && $0.byteCount == version.byteCount })
      else {
        throw StorageError(action, "the store does not list it", kind: .unreachable)
      }
    } catch {
      // The other segments still exist, and this damaged one would make all of them unreadable.
      _ = try? writing.remove(version.key)
      throw error
    }
  }

  @discardableResult
  private func put(_ bytes: [UInt8], after known: String?, isWhole: Bool) throws(StorageError)
    -> ObjectVersion
  {
    let key = folder.prefix + IndexSegment.name(after: known.map(name), isWhole: isWhole)
    return try reporting("write the library's directory") { () throws(ObjectError) in
      try writing.put(bytes: bytes, key: key)
    }
  }

  func reporting<Result>(
    _ action: String, _ body: () throws(ObjectError) -> Result
  ) throws(StorageError) -> Result {
    do throws(ObjectError) { return try body() } catch { throw reporting(action, error) }
  }

  private func reporting(_ action: String, _ error: ObjectError) -> StorageError {
    error.ofBucket("\(action) (\(address) at \(endpoint.url))")
  }
}

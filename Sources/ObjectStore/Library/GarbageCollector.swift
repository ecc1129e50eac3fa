import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages

/// A collector of archives in a store that no image uses. One run marks them, and a run after two days removes those
/// that were unused all the time.
///
/// A new archive that its builder has not yet added to the index looks the same. It is not removed: sending an archive
/// again makes its object newer than its mark.
struct GarbageCollector {
  /// The folder of the marks, after the library's prefix. `sweep/marks` has a line for each archive after the first
  /// line.
  static let folder = "sweep/"
  static let first = "ziggurat-sweep 1"
  private static let maxLength = 1 << 30

  struct Mark: Hashable {
    let etag: String
    /// Seconds since 1970.
    let time: Int
  }

  let address: ObjectAddress
  let settings: ObjectSettings
  let reading: any ObjectReading
  let directory: LibraryIndex
  let strays: StrayObjects
  var limits = RequestLimits.builder

  private var marksKey: String { address.prefix + Self.folder + "marks" }

  /// - Parameters:
  ///   - now: seconds since 1970.
  ///   - wait: the time in seconds for which archives must stay marked.
  func run(now: Int, wait: Int) throws(StorageError) -> ObjectLibrary.GarbageCollectionResult {
    let writing = ObjectWriter(address, settings, limits: limits)
    let known = try marks()
    let listed = try archives()
    // After the list: an archive that is in the index by then has an image.
    var named = try names()
    var result = ObjectLibrary.GarbageCollectionResult()
    var marks: [String: Mark] = [:]
    var due: [ObjectVersion] = []
    for version in listed where !named.contains(version.key) {
      guard let mark = known[version.key], mark.etag == version.etag, mark.time <= now else {
        marks[version.key] = Mark(etag: version.etag, time: now)
        continue
      }
      marks[version.key] = mark
      if now - mark.time >= wait { due.append(version) }
    }
    for start in stride(from: 0, to: due.count, by: 100) {
      // Again, because it takes a while to remove very many.
      named = try names()
      for version in due[start..<min(start + 100, due.count)] {
        guard !named.contains(version.key), let mark = marks[version.key] else {
          marks[version.key] = nil
          continue
        }
        let written = try directory.reporting("look at \(version.key)") { () throws(ObjectError) in
          try writing.lastWritten(version.key)
        }
        guard let written, written < mark.time else {
          // The archive was sent again, or its time is unknown.
          marks[version.key] = Mark(etag: version.etag, time: now)
          continue
        }
        try directory.reporting("remove \(version.key)") { () throws(ObjectError) in
          try writing.remove(version.key)
        }
        marks[version.key] = nil
        result.removed += 1
        // The sum of the listed sizes may overflow.
        result.bytes =
          result.bytes.addingReportingOverflow(version.byteCount).overflow
          ? .max : result.bytes + version.byteCount
      }
    }
    result.marked = marks.count
    if Set(marks.keys) != Set(known.keys) || marks != known {
      try directory.reporting("write the marks of archives") { () throws(ObjectError) in
        _ = try writing.put(bytes: Self.text(marks), key: marksKey)
      }
    }
    return result
  }

  /// Lists the archives, and reports other objects in their folder, which are not removed.
  private func archives() throws(StorageError) -> [ObjectVersion] {
    let folder = address.below(ListedRecord.folder)
    var stray: [[UInt8]] = []
    let listed = try directory.reporting("list the archives") { () throws(ObjectError) in
      stray = []
      return try ObjectWriter(folder, settings, limits: limits).all(atMost: 100_000_000) { stray.append($0) }
    }
    var own: [ObjectVersion] = []
    for version in listed {
      let name = String(decoding: version.key.utf8.dropFirst(folder.prefix.utf8.count), as: UTF8.self)
      if ListedRecord.isName(name), ResponseHead.isTag(version.etag) {
        own.append(version)
      } else {
        stray.append(Array(version.key.utf8))
      }
    }
    strays.note(stray, in: folder)
    return own
  }

  private func names() throws(StorageError) -> Set<String> {
    try directory.refresh()
    return Set(directory.current.records.values.map { ListedRecord.key($0.digest, below: address.prefix) })
  }

  private func marks() throws(StorageError) -> [String: Mark] {
    try directory.reporting("read the marks of archives") { () throws(ObjectError) in
      // The object with exactly this key comes before all others with this prefix.
      let marks = ObjectAddress(bucket: address.bucket, prefix: marksKey)
      let list = ObjectWriter(marks, settings, limits: limits)
      guard let version = try list.list(after: nil).versions.first(where: { $0.key == marksKey }),
        (1...Self.maxLength).contains(version.byteCount)
      else { return [:] }
      let bytes = try reading.copy(version).bytes(0..<version.byteCount) ?? []
      // An invalid text has no marks, so all archives wait from now on.
      return Self.marks(bytes) ?? [:]
    }
  }

  static func text(_ marks: [String: Mark]) -> [UInt8] {
    var text = Self.first + "\n"
    for (key, mark) in marks.sorted(by: { $0.key < $1.key }) { text += "\(mark.time) \(mark.etag) \(key)\n" }
    return Array(text.utf8)
  }

  /// Returns the marks in a text; nil if the text is invalid or incomplete. An invalid line is ignored, since its
  /// archive then only waits once more. Inverse of `text`.
  static func marks(_ bytes: [UInt8]) -> [String: Mark]? {
    let lines = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    guard lines.first == first[...], lines.last?.isEmpty == true else { return nil }
    var marks: [String: Mark] = [:]
    for line in lines.dropFirst().dropLast() {
      let fields = line.split(separator: " ", omittingEmptySubsequences: false)
      guard fields.count == 3, let time = Int(fields[0]), time >= 0 else { continue }
      marks[String(fields[2])] = Mark(etag: String(fields[1]), time: time)
    }
    return marks
  }
}

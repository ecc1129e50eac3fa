import Foundation
import Glibc
import Synchronization
package import TileGeometry
package import TileStorage
package import ZigguratFiles

/// A writer for a library in an object store: archives named by their digests, and an index of them.
///
/// All readers can see a new image within two seconds. Images that a killed builder had not announced are announced
/// later from its notices, or built again without them.
package final class S3LibraryWriter: ArchiveStore, OriginStore {
  private struct State {
    var lines: [Line] = []
    /// Lines that are being sent.
    var sending: [Line] = []
    /// Callbacks for when all lines are announced.
    var waiting: [@Sendable () -> Void] = []
    /// Images that this store has built since the directory was last read.
    var fresh: [ImageID: BuildRecord] = [:]
    /// The archive that was sent last, and its SHA-256.
    var sent: (id: ImageID, version: ObjectVersion, digest: [UInt8])?
    /// The earliest time of the next announcement before the end.
    var due = ContinuousClock.now + pause

    /// Whether the store was unavailable for the last archive.
    var isAway = false

    /// Whether some built images are not announced yet.
    var isBehind: Bool { !lines.isEmpty || !sending.isEmpty }
  }

  /// A line of the index, and the image that it describes, if any.
  private struct Line {
    var id: ImageID?
    let text: [UInt8]
  }

  private let directory: LibraryIndex
  private let writer: ObjectWriter
  private let reading: any ObjectReading
  private let scratch: String
  private let knowsAll: Bool
  private let state = Mutex(State())
  /// Held while the index is written.
  private let announcing = Mutex<Void>(())
  /// The maximum time until a new archive is announced.
  private static let pause = Duration.seconds(2)
  /// The same while the index is unavailable. Each attempt takes the whole timeout of a builder, which builds nothing
  /// meanwhile.
  private static let rest = Duration.seconds(30)
  /// The maximum number of segments that readers should have to request.
  private static let maximum = 200

  /// - Parameters:
  ///   - scratch: a folder of this user's own, for archives that are not sent yet.
  ///   - knowsAll: whether the index is read. A server that knows the images otherwise has no memory for it. Without it
  ///     no image is found, only `announce` announces new ones, and no other process uses the scratch folder.
  package init(
    _ address: ObjectAddress, _ settings: ObjectSettings, _ directory: LibraryIndex,
    reading: any ObjectReading, scratch: String, knowsAll: Bool = true
  ) {
    writer = ObjectWriter(address, settings)
    self.directory = directory
    self.reading = reading
    self.scratch = scratch
    self.knowsAll = knowsAll
  }

  package func prepare() throws(StorageError) {
    try Self.makeOwn(scratch)
    _ = AtomicFile.removeLeftovers(in: scratch)
    guard knowsAll else {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: scratch)) ?? []
      for name in names { unlink("\(scratch)/\(name)") }
      return
    }
    try directory.refresh()
    if directory.current.keys.count > Self.maximum { try directory.compact() }
  }

  /// Creates a folder that only this user can read. It may contain archives of private pictures for a while.
  private static func makeOwn(_ folder: String) throws(StorageError) {
    if mkdir(folder, 0o700) != 0, errno != EEXIST {
      throw StorageError("make the folder \(folder)", errno: errno)
    }
    var status = stat()
    guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
      status.st_mode & 0o022 == 0
    else { throw StorageError("write into \(folder)", "it is not this user's own folder") }
  }

  package func buildRecord(ofID id: ImageID) -> BuildRecord? {
    if let fresh = state.withLock({ $0.fresh[id] }) { return fresh }
    guard let record = directory.current.records[id] else { return nil }
    return record.text.bytes(record.build).flatMap { BuildRecord(json: Data($0)) }
  }

  package func holds(_ id: ImageID) -> Bool {
    state.withLock { $0.fresh[id] != nil } || directory.current.records[id] != nil
  }

  package func count() throws(StorageError) -> Int {
    Set(directory.current.records.keys).union(state.withLock { $0.fresh.keys }).count
  }

  package func makeFile(id: ImageID, replacing: Bool) throws(StorageError) -> ArchiveFile? {
    try ArchiveFile(destination: "\(scratch)/\(id.name)", name: id.name) {
      [self] (archive, file) throws(StorageError) in try send(archive, file, as: id)
    }
  }

  package func makeWriter(
    id: ImageID, pyramid: Pyramid, format: TileFormat, replacing: Bool
  ) throws(StorageError) -> any ArchiveWriter {
    let path = "\(scratch)/\(UUID())"
    let writer = try SZIWriter(destination: path, name: id.name, pyramid: pyramid, format: format)
    return StagedArchive(writer, at: path) {
      [self] (archive, file) throws(StorageError) in try send(archive, file, as: id)
    }
  }

  /// Rewrites a copy of the archive that was sent last. Any other archive is built again.
  package func rewrite(
    id: ImageID, _ metadata: (BuildRecord, _ own: ImageMetadata) -> ArchiveMetadata
  ) throws(StorageError) -> Bool {
    guard let (last, version, digest) = state.withLock({ $0.sent }), last == id else { return false }
    let file = try reading.copy(version, of: digest, "read \(id)")
    let path = "\(scratch)/\(UUID())"
    defer { unlink(path) }
    let isWritten = try withExtendedLifetime(file) { () throws(StorageError) in
      try ArchiveMetadata.rewrite(
        archiveAt: "/proc/self/fd/\(file.descriptor)", into: path, as: id.name, metadata)
    }
    guard isWritten else { return false }
    let archive = try TileArchive(path: path, within: nil)
    try send(archive, archive.file?.descriptor ?? -1, as: id)
    return true
  }

  private func send(_ archive: TileArchive, _ descriptor: Int32, as id: ImageID) throws(StorageError) {
    guard let file = archive.file, let record = archive.buildRecord else {
      throw StorageError("write \(id)", "ziggurat did not write it")
    }
    let digest = SHA256.of(file.bytes)
    let key = ListedRecord.key(digest, below: directory.address.prefix)
    let version = try directory.reporting("write \(id)") { () throws(ObjectError) in
      do throws(ObjectError) {
        return try writer.put(file: "/proc/self/fd/\(descriptor)", sha256: digest, key: key)
      } catch {
        // A refusal may concern only this archive.
        state.withLock { $0.isAway = error.isTimeout }
        throw error
      }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings and numbers always encode.
    let (build, metadata) = (try! encoder.encode(record), try! encoder.encode(archive.metadata))
    let listed = ListedRecord(
      digest: digest, etag: version.etag, byteCount: version.byteCount, generation: archive.generation,
      pyramid: archive.pyramid, format: archive.format)
    let line = IndexEntry.text(image: id, listed, build: build, metadata: metadata)
    guard line.count <= IndexSegment.maxLineLength else {
      throw StorageError("write \(id)", "what is said of it is too long")
    }
    guard IndexEntry.isReadable(line) else {
      throw StorageError("write \(id)", "the library's directory cannot hold it")
    }
    let isDue = state.withLock { state in
      state.lines.append(Line(id: id, text: line))
      state.sent = (id, version, digest)
      state.isAway = false
      guard knowsAll else { return false }
      state.fresh[id] = record
      // One thread announces for all.
      guard state.sending.isEmpty, state.due < .now else { return false }
      state.due = .now + Self.rest
      return true
    }
    guard isDue else { return }
    // The archive is stored. While the index is unavailable only its line is delayed, and the end of the build reports
    // that.
    do throws(StorageError) { try announce() } catch { if !error.isTemporary { throw error } }
  }

  package var isAway: Bool { state.withLock { $0.isAway } }

  package func withdraw() { state.withLock { ($0.lines, $0.isAway) = ([], false) } }

  package func announce() throws(StorageError) {
    let announced = try announcing.withLock { (_) throws(StorageError) in
      let (lines, waiting) = state.withLock { state in
        defer { (state.lines, state.waiting, state.sending) = ([], [], state.lines) }
        return (state.lines, state.waiting)
      }
      do throws(StorageError) {
        let texts = lines.map(\.text)
        if knowsAll { try directory.add(texts) } else { try directory.append(texts) }
        state.withLock { ($0.due, $0.sending) = (.now + Self.pause, []) }
        return waiting
      } catch {
        // The lines are announced later, because the archives are stored.
        state.withLock { state in
          state.lines = lines + state.lines
          state.waiting = waiting + state.waiting
          state.due = .now + Self.rest
          state.sending = []
        }
        throw error
      }
    }
    for body in announced { body() }
  }

  package func whenAnnounced(_ body: @escaping @Sendable () -> Void) -> Bool {
    let isNow = state.withLock { state in
      if !state.isBehind { return true }
      state.waiting.append(body)
      return false
    }
    if isNow { body() }
    return isNow
  }

  package func notice(of id: ImageID) -> String? {
    let line = state.withLock { state in
      let isOf = { (line: Line) in line.id == id }
      return state.lines.last(where: isOf) ?? state.sending.last(where: isOf)
    }
    return line.map { String(decoding: $0.text.dropLast(), as: UTF8.self) }
  }

  package func adopt(_ notices: [String]) throws(StorageError) {
    for notice in notices {
      let bytes = Array(notice.utf8)
      let line = bytes.withUnsafeBytes { IndexEntry($0, of: .nothing, at: 0) }
      guard case .image(let id, let listed)? = line, !bytes.contains(IndexEntry.end),
        let record = BuildRecord(json: Data(bytes[listed.build])),
        directory.current.records[id]?.digest != listed.digest,
        try directory.holds(listed)
      else { continue }
      state.withLock { state in
        state.lines.append(Line(id: id, text: bytes + [IndexEntry.end]))
        state.fresh[id] = record
      }
    }
    try announce()
  }

  /// Removes images from the index. Their archives stay in the store for servers that have them open.
  package func trash(_ ids: [ImageID]) throws(StorageError) -> TrashFolder.Failures {
    state.withLock { state in
      for id in ids {
        state.lines.append(Line(text: IndexEntry.text(gone: id)))
        state.fresh[id] = nil
      }
    }
    try announce()
    return TrashFolder.Failures()
  }

  /// Does nothing: `GarbageCollector` removes archives that no image has.
  package func purgeTrash(until oldest: Int) throws(StorageError) {}

  // MARK: Origins

  package func claim(_ images: [ImageID: SourceRoot]) throws(StorageError) {
    let known = directory.current.origins
    state.withLock { state in
      for (id, root) in images where known[id] != root.text {
        state.lines.append(Line(text: IndexEntry.text(origin: id, root.text)))
      }
    }
    try announce()
  }

  package func owners(of ids: [ImageID]?) throws(StorageError) -> [ImageID: String] {
    let origins = directory.current.origins
    guard let ids else { return origins }
    return Dictionary(
      ids.compactMap { id in origins[id].map { (id, $0) } }, uniquingKeysWith: { first, _ in first })
  }

  package func images(from roots: Set<SourceRoot>) throws(StorageError) -> [ImageID] {
    let wanted = Set(roots.map(\.text))
    let known = directory.current
    return known.origins.filter { wanted.contains($0.value) && known.records[$0.key] != nil }.keys.sorted()
  }
}

package import Files
import Foundation
import Glibc
import Synchronization
import TileStorage

/// What a builder tells of its part of a plan, line by line as it happens: what it begins, how each image comes out,
/// what it has ended. A builder that is killed leaves what it told, and the next one of the same part sees by it which
/// sources may have been its end.
///
/// A file of JSON lines, `PLAN.I-of-N.ATTEMPT.jsonl`, which its builder has locked.
package final class ShardReport: Sendable {
  /// One line has one of these.
  struct Line: Codable {
    var report: Head?
    /// A source's id.
    var start: ImageID?
    var image: Image?
    var end: ImageID?
    /// A source that this builder was told to leave.
    var stop: ImageID?
  }

  struct Head: Codable {
    /// Of the format.
    let version: Int
    let plan: String
    let shard: String
  }

  /// How an image came out.
  package struct Image: Codable, Hashable, Sendable {
    package let id: ImageID
    package let source: String
    /// As `build --json` has it.
    package let status: String
    /// Why it failed.
    package let reason: String?
    package let isTemporary: Bool?

    package init(_ source: SourceScan.Source, _ outcome: LibraryBuilder.Outcome) {
      (id, self.source, status) = (source.id, source.path, outcome.status)
      (reason, isTemporary) = (outcome.failure?.reason, outcome.failure?.isTemporary)
    }
  }

  static let version = 1
  static let ending = ".jsonl"
  /// A source that was begun so often and never ended is not begun again; one less, and nothing is built beside it.
  package static let mostStarts = 3

  /// How often earlier builders began a source and never ended it.
  private let lostStarts: [ImageID: Int]
  private let path: String
  private let state: Mutex<State>

  private struct State: ~Copyable {
    let descriptor: Int32
    var failure: StorageError?
    /// Of the last time that all was brought to the disk.
    var saved = ContinuousClock.now

    deinit { close(descriptor) }
  }

  /// - Parameter folder: for the reports of all parts; made if missing.
  package init(of plan: SourcePlan, _ shard: WorkShard, in folder: String) throws(StorageError) {
    try FolderTree.make(folder)
    let stem = "\(plan.name).\(shard.index)-of-\(shard.count)."
    var starts: [ImageID: Int] = [:]
    var last = 0
    for name in try Self.names(in: folder) where name.hasPrefix(stem) && name.hasSuffix(Self.ending) {
      guard let attempt = Int(name.dropFirst(stem.count).dropLast(Self.ending.count)) else { continue }
      last = max(last, attempt)
      let path = "\(folder)/\(name)"
      // Another builder of the same part is at work: what it has begun it may end.
      if Self.isLocked(path) { continue }
      for id in try Self.unended(in: path) { starts[id, default: 0] += 1 }
    }
    lostStarts = starts
    while true {
      last += 1
      let path = "\(folder)/\(stem)\(last)\(Self.ending)"
      let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o666)
      if descriptor < 0, errno == EEXIST { continue }
      guard descriptor >= 0 else { throw StorageError("write \(path)", errno: errno) }
      // Where there are no locks, nobody waits for this one to end.
      _ = flock(descriptor, LOCK_EX | LOCK_NB)
      self.path = path
      state = Mutex(State(descriptor: descriptor))
      break
    }
    write(Line(report: Head(version: Self.version, plan: plan.name, shard: shard.description)))
    if let failure { throw failure }
  }

  /// What could not be written down, after which nothing was.
  package var failure: StorageError? { state.withLock { $0.failure } }

  /// How often a source was begun by builders that were killed before they ended it.
  package func lostStarts(of source: SourceScan.Source) -> Int { lostStarts[source.id] ?? 0 }

  package func start(_ source: SourceScan.Source) { write(Line(start: source.id)) }

  package func add(_ source: SourceScan.Source, _ outcome: LibraryBuilder.Outcome) {
    write(Line(image: Image(source, outcome)))
  }

  package func end(_ source: SourceScan.Source) { write(Line(end: source.id)) }

  /// The source is left for the next builder, by no fault of its own.
  package func stop(_ source: SourceScan.Source) { write(Line(stop: source.id)) }

  private func write(_ line: Line) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings and numbers always encode.
    let bytes = Array(try! encoder.encode(line)) + [UInt8(ascii: "\n")]
    state.withLock { state in
      guard state.failure == nil else { return }
      do throws(StorageError) { try Self.write(bytes, to: state.descriptor, path) } catch {
        state.failure = error
      }
      // What a machine takes with it that loses its power: the last second.
      guard state.saved.duration(to: .now) > .seconds(1) else { return }
      fdatasync(state.descriptor)
      state.saved = .now
    }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(StorageError) {
    try bytes.withUnsafeBufferPointer { (bytes) throws(StorageError) in
      try writeAll(UnsafeRawBufferPointer(bytes), to: descriptor, path: path)
    }
  }

  // MARK: What others told

  private static func names(in folder: String) throws(StorageError) -> [String] {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      throw StorageError("read \(folder)", errno: errno)
    }
    return names.sorted()
  }

  private static func isLocked(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }

  private static func unended(in path: String) throws(StorageError) -> Set<ImageID> {
    var begun: Set<ImageID> = []
    try forEachLine(of: path) { line in
      if let id = line.start { begun.insert(id) }
      if let id = line.end ?? line.stop { begun.remove(id) }
    }
    return begun
  }

  /// Lines that a killed builder left half, or that somebody else wrote, are passed over.
  static func forEachLine(of path: String, _ body: (Line) -> Void) throws(StorageError) {
    let lines = try TextLines(path: path)
    let decoder = JSONDecoder()
    while let bytes = try lines.next() {
      if lines.isWhole, let line = try? decoder.decode(Line.self, from: Data(bytes)) { body(line) }
    }
  }
}

import Foundation
import Glibc
import Synchronization
package import TileStorage
package import ZigguratFiles

/// A builder's report about its part of a plan, line by line as it happens: the sources that it begins, the result of
/// each image, and the sources that it has ended. The next builder of the same part sees by the report of a killed
/// one which sources may have ended it.
///
/// A file of JSON lines, `PLAN.I-of-N.ATTEMPT.jsonl`, which its builder has locked.
package final class ShardReport: Sendable {
  /// One line has one of these.
  struct Line: Codable {
    var report: Head?
    /// A source's id.
    var start: ImageID?
    var image: Image?
    /// The notice of that image.
    var notice: Notice?
    var end: ImageID?
    /// A source that this builder was told to leave.
    var stop: ImageID?
  }

  struct Head: Codable {
    /// The version of the format.
    let version: Int
    let plan: String
    let shard: String
  }

  /// The result of an image.
  package struct Image: Codable, Hashable, Sendable {
    package let id: ImageID
    package let source: String
    /// As `build --json` has it.
    package let status: String
    /// Why it failed.
    package let reason: String?
    package let isTemporary: Bool?
    /// The source's damage that the image shows.
    package let damage: SourceDamage?

    package init(_ source: SourceScan.Source, _ outcome: LibraryBuilder.Outcome) {
      id = source.id
      self.source = source.path
      status = outcome.status
      reason = outcome.failure?.reason
      isTemporary = outcome.failure?.isTemporary
      damage = outcome.damage
    }
  }

  /// By what the store announces an image that it does not announce at once.
  struct Notice: Codable {
    /// The source's id, which ends once all of its images are announced.
    let source: ImageID
    let text: String
  }

  static let version = 1
  static let ending = ".jsonl"
  /// Bytes of a notice; a line has it with its quotation marks written as two.
  private static let longestNotice = LineReader.longest / 4
  /// A source that was begun so often and never ended is not begun again; one less, and nothing is built beside it.
  package static let mostStarts = 3

  /// The number of times that earlier builders began each source and never ended it.
  private let lostStarts: [ImageID: Int]
  /// By what images are announced that earlier builders had built and did not announce before they were killed.
  package let lostNotices: [String]
  private let path: String
  private let state: Mutex<State>

  private struct State: ~Copyable {
    let descriptor: Int32
    var failure: StorageError?
    /// The time at which all lines were last written to the disk.
    var saved = ContinuousClock.now

    deinit { close(descriptor) }
  }

  /// - Parameter folder: for the reports of all parts; made if missing.
  package init(of plan: SourcePlan, _ shard: WorkShard, in folder: String) throws(StorageError) {
    try FolderTree.make(folder)
    let stem = "\(plan.name).\(shard.index)-of-\(shard.count)."
    let attempts = try Self.names(in: folder).filter { $0.hasPrefix(stem) && $0.hasSuffix(Self.ending) }
      .compactMap { Int($0.dropFirst(stem.count).dropLast(Self.ending.count)) }.sorted()
    var lost = Lost()
    for attempt in attempts {
      let path = "\(folder)/\(stem)\(attempt)\(Self.ending)"
      // Another builder of the same part is at work: what it has begun it may end.
      if !Self.isLocked(path) { try lost.add(path) }
    }
    lostStarts = lost.starts
    lostNotices = lost.notices.map(\.text)
    var last = attempts.last ?? 0
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

  /// The error of the first line that could not be written, after which none was; nil if there was none.
  package var failure: StorageError? { state.withLock { $0.failure } }

  /// Returns the number of times that builders began a source and were killed before they ended it.
  package func lostStarts(of source: SourceScan.Source) -> Int { lostStarts[source.id] ?? 0 }

  package func start(_ source: SourceScan.Source) { write(Line(start: source.id)) }

  /// - Parameters:
  ///   - source: the image's.
  ///   - whole: that which is started and ended, of which the image may be a page.
  ///   - notice: by what the store announces it later; nil where everybody finds it.
  func add(
    _ source: SourceScan.Source, _ outcome: LibraryBuilder.Outcome, of whole: SourceScan.Source,
    notice: String?
  ) {
    // What nobody reads again is not written, either: it would be built again.
    let kept = notice.flatMap {
      $0.utf8.count <= Self.longestNotice ? Notice(source: whole.id, text: $0) : nil
    }
    write(Line(image: Image(source, outcome), notice: kept))
  }

  package func end(_ source: SourceScan.Source) { write(Line(end: source.id)) }

  /// The source is left for the next builder, by no fault of its own.
  package func stop(_ source: SourceScan.Source) { write(Line(stop: source.id)) }

  private func write(_ line: Line) {
    let bytes = JSONLine.encode(line)
    state.withLock { state in
      guard state.failure == nil else { return }
      do throws(StorageError) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(StorageError) in
          try writeAll(UnsafeRawBufferPointer(bytes), to: state.descriptor, path: path)
        }
      } catch { state.failure = error }
      // What a machine takes with it that loses its power: the last second.
      guard state.saved.duration(to: .now) > .seconds(1) else { return }
      fdatasync(state.descriptor)
      state.saved = .now
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

  /// The unfinished work of builders that were killed.
  private struct Lost {
    var starts: [ImageID: Int] = [:]
    var notices: [Notice] = []

    mutating func add(_ path: String) throws(StorageError) {
      var begun: Set<ImageID> = []
      var ended: Set<ImageID> = []
      var found: [Notice] = []
      try forEachLine(of: path) { line in
        if let id = line.start { begun.insert(id) }
        if let id = line.end ?? line.stop { begun.remove(id) }
        if let id = line.end { ended.insert(id) }
        if let notice = line.notice { found.append(notice) }
      }
      for id in begun { starts[id, default: 0] += 1 }
      notices = (notices + found).filter { !ended.contains($0.source) }
    }
  }

  /// Lines that a killed builder left half, or that somebody else wrote, are passed over.
  static func forEachLine(of path: String, _ body: (Line) -> Void) throws(StorageError) {
    let lines = try LineReader(path: path)
    while let bytes = try lines.next() {
      if lines.isWhole, let line = try? InputLimit.planLine.json.decode(Line.self, from: bytes) { body(line) }
    }
  }
}

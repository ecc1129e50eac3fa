import Foundation
import Glibc
import Synchronization
package import TileStorage
package import ZigguratFiles

/// A builder's report about its shard of a plan, written line by line. It has the sources that the builder starts, the
/// result of each image, and the sources that it ends. If a builder is killed, the report shows the next builder of the
/// shard which sources may be the cause.
///
/// The file has JSON lines and the name `PLAN.I-of-N.ATTEMPT.jsonl`. Its builder holds a lock on it.
package final class ShardReport: Sendable {
  /// A line, which has one of these members.
  struct Line: Codable {
    var report: Head?
    /// The id of a source that was started.
    var start: ImageID?
    var image: Image?
    /// The announcement of that image, if the store announces it later.
    var notice: Notice?
    var end: ImageID?
    /// A source that this builder was asked to leave to the next one.
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
    /// The status in the output of `build --json`.
    package let status: String
    /// The reason of a failure.
    package let reason: String?
    package let isTemporary: Bool?
    /// The source's damage that is visible in the image.
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

  /// The text by which the store announces an image later.
  struct Notice: Codable {
    /// The id of the source, which ends once all of its images are announced.
    let source: ImageID
    let text: String
  }

  static let version = 1
  static let ending = ".jsonl"
  /// Maximum bytes of a notice; in a line, each quotation mark takes two.
  private static let maxNoticeLength = LineReader.maxLength / 4
  /// A source with this many starts and no end is not started again. After one start less, nothing is built beside it.
  package static let maxStarts = 3

  /// The number of times that earlier builders started each source and never ended it.
  private let lostStarts: [ImageID: Int]
  /// The notices of images that killed builders had built but not announced.
  package let lostNotices: [String]
  private let path: String
  private let state: Mutex<State>

  private struct State: ~Copyable {
    let descriptor: Int32
    var failure: StorageError?
    /// The time of the last fsync.
    var saved = ContinuousClock.now

    deinit { close(descriptor) }
  }

  /// - Parameter folder: the folder of the reports of all shards; created if it does not exist.
  package init(of plan: SourcePlan, _ shard: WorkShard, in folder: String) throws(StorageError) {
    try FolderTree.make(folder)
    let stem = "\(plan.name).\(shard.index)-of-\(shard.count)."
    let attempts = try Self.names(in: folder).filter { $0.hasPrefix(stem) && $0.hasSuffix(Self.ending) }
      .compactMap { Int($0.dropFirst(stem.count).dropLast(Self.ending.count)) }.sorted()
    var lost = Lost()
    for attempt in attempts {
      let path = "\(folder)/\(stem)\(attempt)\(Self.ending)"
      // Another builder of the same shard is running, and may still end its sources.
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
      // On file systems without locks, the failure has no effect.
      _ = flock(descriptor, LOCK_EX | LOCK_NB)
      self.path = path
      state = Mutex(State(descriptor: descriptor))
      break
    }
    write(Line(report: Head(version: Self.version, plan: plan.name, shard: shard.description)))
    if let failure { throw failure }
  }

  /// The error of the first failed write, after which nothing is written; nil if there was none.
  package var failure: StorageError? { state.withLock { $0.failure } }

  /// Returns the number of times that builders began a source and were killed before they ended it.
  package func lostStarts(of source: SourceScan.Source) -> Int { lostStarts[source.id] ?? 0 }

  package func start(_ source: SourceScan.Source) { write(Line(start: source.id)) }

  /// - Parameters:
  ///   - source: the source of the image.
  ///   - whole: the source that is started and ended, which may contain the image as a page.
  ///   - notice: the text by which the store announces the image later; nil if it is already visible.
  func add(
    _ source: SourceScan.Source, _ outcome: LibraryBuilder.Outcome, of whole: SourceScan.Source,
    notice: String?
  ) {
    // A notice that could not be read back is not written: the image would be rebuilt.
    let kept = notice.flatMap {
      $0.utf8.count <= Self.maxNoticeLength ? Notice(source: whole.id, text: $0) : nil
    }
    write(Line(image: Image(source, outcome), notice: kept))
  }

  package func end(_ source: SourceScan.Source) { write(Line(end: source.id)) }

  /// Leaves the source to the next builder; it does not count as a lost start.
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
      // A power failure loses at most the last second.
      guard state.saved.duration(to: .now) > .seconds(1) else { return }
      fdatasync(state.descriptor)
      state.saved = .now
    }
  }

  // MARK: Earlier reports

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

  /// Calls `body` with each line. Incomplete lines of killed builders and lines of other programs are ignored.
  static func forEachLine(of path: String, _ body: (Line) -> Void) throws(StorageError) {
    let lines = try LineReader(path: path)
    while let bytes = try lines.next() {
      if lines.isWhole, let line = try? InputLimit.planLine.json.decode(Line.self, from: bytes) { body(line) }
    }
  }
}

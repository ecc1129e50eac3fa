import Foundation
import Glibc
import Synchronization
package import ZigguratFiles

/// Digests of sources by path, with the state of the file, so that unchanged sources are not read again.
///
/// The cache is a file of JSON lines outside the library and its archives. If it is missing or damaged, sources are
/// read.
package final class DigestCache: Sendable {
  private struct Entry: Codable {
    let path: String
    /// One of these.
    var version: FileVersion?
    var remote: RemoteFile?
    let content: String
    let pixels: String?
  }

  /// The properties of a file that change when its content does. The time of the inode's last change, which no
  /// program sets, reveals a change that keeps the size and sets the time of last modification back.
  private struct FileVersion: Codable, Equatable {
    let inode: UInt64
    let bytes: Int
    /// Nanoseconds since 1970.
    let modified: Int
    let changed: Int

    init(_ status: stat) {
      inode = UInt64(status.st_ino)
      bytes = Int(status.st_size)
      modified = Self.nanoseconds(status.st_mtim)
      changed = Self.nanoseconds(status.st_ctim)
    }

    private static func nanoseconds(_ time: timespec) -> Int { time.tv_sec * 1_000_000_000 + time.tv_nsec }

    /// Whether it may change again without another time: clocks of file systems are as coarse as two seconds.
    var isFresh: Bool {
      var now = timespec()
      clock_gettime(CLOCK_REALTIME, &now)
      return Self.nanoseconds(now) - max(modified, changed) < 2_000_000_000
    }
  }

  private struct State {
    var known: [String: Entry] = [:]
    /// The entries of files that this run has met.
    var met: [String: Entry] = [:]
  }

  /// The first bytes of every file of entries: the first key in their order.
  private static let beginning = "{\"content\":\""

  private let path: String
  private let state: Mutex<State>

  /// - Parameter path: of the file, which is made when it is saved.
  package init(path: String) throws(StorageError) {
    self.path = path
    try ReplacedFile.require(path, beginsWith: Self.beginning, "a digest cache")
    var known: [String: Entry] = [:]
    if access(path, F_OK) == 0 {
      let lines = try LineReader(path: path)
      while let line = try lines.next() {
        if let entry = try? InputLimit.planLine.json.decode(Entry.self, from: line) {
          known[entry.path] = entry
        }
      }
    }
    state = Mutex(State(known: known))
  }

  /// Returns the digest of a source that lies elsewhere, which then need not be copied; nil if it is unknown.
  func digest(of remote: RemoteFile) -> String? {
    state.withLock { state in
      guard let entry = state.known[remote.path], entry.remote == remote else { return nil }
      state.met[remote.path] = entry
      return entry.content
    }
  }

  /// Returns digests like `SourceFile.digests`, and reads the file only if they are not known.
  ///
  /// - Parameter remote: the original of a copy; nil if the file is the source.
  func digests(
    of file: SourceFile, _ remote: RemoteFile?, _ isCancelled: () -> Bool
  ) throws(BuildError) -> (content: String, pixels: String?) {
    if let remote {
      let (content, pixels) = try file.digests(isCancelled)
      let entry = Entry(path: remote.path, remote: remote, content: content, pixels: pixels)
      state.withLock { $0.met[remote.path] = entry }
      return (content, pixels)
    }
    var status = stat()
    guard fstat(file.handle.descriptor, &status) == 0 else { return try file.digests(isCancelled) }
    let version = FileVersion(status)
    if let entry = state.withLock({ $0.known[file.path] }), entry.version == version {
      state.withLock { $0.met[file.path] = entry }
      return (entry.content, entry.pixels)
    }
    let (content, pixels) = try file.digests(isCancelled)
    if !version.isFresh {
      let entry = Entry(path: file.path, version: version, content: content, pixels: pixels)
      state.withLock { $0.met[file.path] = entry }
    }
    return (content, pixels)
  }

  /// Saves the digests of existing sources.
  package func save() throws(StorageError) {
    let entries = state.withLock { state in
      // Also those of other shards, or of an interrupted run. Remote files are not checked.
      state.known.filter { $1.remote != nil || access($0, F_OK) == 0 }.merging(state.met) { $1 }
    }
    let file = try AtomicFile(destination: path)
    var text: [UInt8] = []
    for path in entries.keys.sorted() {
      text += JSONLine.encode(entries[path]!)
      if text.count > 1 << 20 {
        try file.write(text)
        text = []
      }
    }
    try file.write(text)
    try file.publish()
  }
}

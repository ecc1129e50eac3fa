import Glibc
import Synchronization
import TileStorage
package import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratText

/// The log of changes, with their times and authors: one line of JSON for each event, appended to a file.
///
/// If the file was moved away, the next line is written to a new file of its name; `reopen` does that at once. Lines that
/// cannot be written are reported, and change nothing else.
package final class AuditLog: Sendable {
  private struct State {
    var descriptor: Int32
    /// Lines that were lost since the last one that was written.
    var lost = 0
    /// Lines that were lost since the server started.
    var allLost = 0
    /// A line was cut short: the next one begins behind it.
    var isCut = false
  }

  private let path: String
  private let tell: @Sendable (String) -> Void
  private let state: Mutex<State>

  /// - Parameter tell: is given a line when writing begins to fail, and when it goes on.
  package init(path: String, tell: @escaping @Sendable (String) -> Void) throws(StorageError) {
    guard let descriptor = Self.open(path) else {
      throw StorageError("open the audit log \(path)", errno: errno)
    }
    self.path = path
    self.tell = tell
    state = Mutex(State(descriptor: descriptor))
  }

  /// Lines that could not be written since the server started.
  var lostLines: Int { state.withLock { $0.allLost } }

  deinit { close(state.withLock { $0.descriptor }) }

  /// - Parameters:
  ///   - client: whose request it was; nil where none was.
  ///   - visitor: what the request showed.
  func add(_ event: AuditEvent, client: IPAddress?, visitor: Visitor?) {
    var json = JSONText(capacity: 256)
    json.object { json in
      json.member("time", Timestamp.now.description)
      json.key("event")
      json.string { $0.part(event.name) }
      if let client { json.member("client", client.description) }
      if let visitor { json.member("by", visitor.credential.rawValue) }
      if let session = visitor?.session { json.member("session", session) }
      event.write(to: &json)
    }
    write(json.bytes + [UInt8(ascii: "\n")])
  }

  private func write(_ line: [UInt8]) {
    let told = state.withLock { state -> String? in
      follow(&state)
      let line = (state.isCut ? [UInt8(ascii: "\n")] : []) + line
      var count: Int
      // All at once, so that no other's line stands in its middle.
      repeat { count = Glibc.write(state.descriptor, line, line.count) } while count < 0 && errno == EINTR
      if count == line.count {
        let lost = state.lost
        state.lost = 0
        state.isCut = false
        return lost == 0 ? nil : "the audit log \(path) goes on; \(lost) of its lines are lost"
      }
      let reason = count < 0 ? errno : ENOSPC
      state.isCut = state.isCut || count > 0
      state.lost += 1
      state.allLost += 1
      return state.lost > 1 ? nil : StorageError("write the audit log \(path)", errno: reason).description
    }
    if let told { tell(told) }
  }

  /// Lets go of a file that was moved away, and makes one of its name. Where that fails it is told, and the old file is
  /// written on.
  package func reopen() {
    let told = state.withLock { state in
      follow(&state) ? nil : StorageError("open the audit log \(path)", errno: errno).description
    }
    if let told { tell(told) }
  }

  /// Opens the file anew where another, or none, has its name.
  /// - Returns: false where that fails, with errno: the old file is better than none.
  @discardableResult
  private func follow(_ state: inout State) -> Bool {
    var (named, open) = (stat(), stat())
    fstat(state.descriptor, &open)
    if stat(path, &named) == 0, named.st_ino == open.st_ino, named.st_dev == open.st_dev { return true }
    guard let descriptor = Self.open(path) else { return false }
    close(state.descriptor)
    state.descriptor = descriptor
    state.isCut = false
    return true
  }

  private static func open(_ path: String) -> Int32? {
    // Not for everybody: it has addresses of people.
    let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0o640)
    return descriptor < 0 ? nil : descriptor
  }
}

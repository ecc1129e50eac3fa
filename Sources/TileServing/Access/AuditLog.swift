import Glibc
import Synchronization
import TileStorage
package import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratText

/// An audit log of changes: one line of JSON for each event, appended to a file.
///
/// If the file is moved away, the next line goes to a new file at the same path. `reopen` creates that file
/// immediately. A failed write is reported and has no other effect.
package final class AuditLog: Sendable {
  private struct State {
    var descriptor: Int32
    /// Lines lost since the last successful write.
    var lost = 0
    /// Lines lost since the server started.
    var allLost = 0
    /// Whether the last line is incomplete; the next write then begins with a newline.
    var isCut = false
  }

  private let path: String
  private let report: @Sendable (String) -> Void
  private let state: Mutex<State>

  /// - Parameter report: called with a message when writes begin to fail and when they succeed again.
  package init(path: String, report: @escaping @Sendable (String) -> Void) throws(StorageError) {
    guard let descriptor = Self.open(path) else {
      throw StorageError("open the audit log \(path)", errno: errno)
    }
    self.path = path
    self.report = report
    state = Mutex(State(descriptor: descriptor))
  }

  /// The number of lines that could not be written since the server started.
  var lostLines: Int { state.withLock { $0.allLost } }

  deinit { close(state.withLock { $0.descriptor }) }

  /// - Parameters:
  ///   - client: the address of the request's client; `nil` for an event without a request.
  ///   - visitor: the principal that the request's credentials identify.
  func add(_ event: AuditEvent, client: IPAddress?, principal: Principal?) {
    var json = JSONWriter(capacity: 256)
    json.object { json in
      json.member("time", Timestamp.now.description)
      json.key("event")
      json.string { $0.part(event.name) }
      if let client { json.member("client", client.description) }
      if let principal { json.member("by", principal.credential.rawValue) }
      if let session = principal?.session { json.member("session", session) }
      event.write(to: &json)
    }
    write(json.bytes + [UInt8(ascii: "\n")])
  }

  private func write(_ line: [UInt8]) {
    let message = state.withLock { state -> String? in
      follow(&state)
      let line = (state.isCut ? [UInt8(ascii: "\n")] : []) + line
      var count: Int
      // One write call, so that lines of other processes cannot interleave.
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
    if let message { report(message) }
  }

  /// Closes a file that was moved away and creates a new one at the same path. A failure is reported, and the log
  /// continues in the old file.
  package func reopen() {
    let message = state.withLock { state in
      follow(&state) ? nil : StorageError("open the audit log \(path)", errno: errno).description
    }
    if let message { report(message) }
  }

  /// Opens the file again if the path now refers to another file or to none.
  /// - Returns: `false` on failure, with `errno` set. The log then continues in the old file.
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
    // Not world-readable: the log contains client addresses.
    let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0o640)
    return descriptor < 0 ? nil : descriptor
  }
}

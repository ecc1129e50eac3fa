import Foundation
import Synchronization
import Threads
import TileServing

/// One line per answer on stderr or in a file, gathered and written a few times a second.
package final class AccessLog: Sendable {
  /// How a line looks.
  package enum Style: String, Sendable, CaseIterable {
    /// For people: the time, client, method, path with query, status, bytes, seconds.
    case text
    /// For programs: an object with the same keys.
    case json
    case none
  }

  private let style: Style
  private let pending = Mutex<[UInt8]>([])

  private let path: String?
  /// stderr, or the file.
  private let descriptor: Mutex<Int32>

  /// Nil where nothing is to be logged.
  /// - Parameter path: of a file that lines are added to; nil for stderr.
  init?(_ style: Style, to path: String?) throws(HTTPListener.StartError) {
    guard style != .none else { return nil }
    (self.style, self.path) = (style, path)
    descriptor = Mutex(
      try path.map { (path) throws(HTTPListener.StartError) in try Self.open(path) } ?? STDERR_FILENO)
  }

  /// Lets go of a file that was moved away, and makes one of its name; where that fails the old one is written on.
  func reopen() throws(HTTPListener.StartError) {
    guard let path else { return }
    flush()
    let fresh = try Self.open(path)
    descriptor.withLock { descriptor in
      close(descriptor)
      descriptor = fresh
    }
  }

  private static func open(_ path: String) throws(HTTPListener.StartError) -> Int32 {
    // Not for everybody: it has addresses of people.
    let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0o640)
    guard descriptor >= 0 else {
      throw HTTPListener.StartError(
        description: "cannot open the log \(path): \(String(cString: strerror(errno)).lowercased())")
    }
    return descriptor
  }

  func start() {
    StartedThread.needed { [weak self] in
      while let log = self {
        log.flush()
        usleep(200_000)
      }
    }
  }

  /// An answer, to be logged when it is sent.
  struct Entry {
    let client: String
    let method: String
    let target: (path: String, query: String)
    let status: Int
    let bytes: Int
    /// Of a 5xx.
    let reason: String?
  }

  /// - Parameter microseconds: from the request's headers to the end of its answer.
  func add(_ entry: Entry, microseconds: Int) {
    var line: String
    let time = Timestamp.now
    let (client, status, bytes) = (entry.client, entry.status, entry.bytes)
    let (method, path) = (Self.escaped(entry.method), Self.escaped(entry.target.path))
    let query = Self.escaped(entry.target.query)
    let fraction = String(microseconds % 1_000_000)
    let seconds =
      "\(microseconds / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    switch style {
    case .none: return
    case .text:
      line =
        "\(time) \(client) \(method) \(path)\(query.isEmpty ? "" : "?\(query)") \(status) \(bytes) \(seconds)"
        + (entry.reason.map { " \"\(Self.escaped($0))\"" } ?? "")
    case .json:
      line =
        "{\"time\":\"\(time)\",\"client\":\"\(client)\",\"method\":\"\(method)\","
        + "\"path\":\"\(path)\",\"query\":\"\(query)\",\"status\":\(status),\"bytes\":\(bytes),"
        + "\"seconds\":\(seconds)" + (entry.reason.map { ",\"reason\":\"\(Self.escaped($0))\"" } ?? "") + "}"
    }
    line.append("\n")
    pending.withLock { $0.append(contentsOf: line.utf8) }
  }

  func flush() {
    let bytes = pending.withLock { pending in
      defer { pending = [] }
      return pending
    }
    // Held while it is written to: `reopen` closes it.
    descriptor.withLock { write(bytes, to: $0) }
  }

  private func write(_ bytes: [UInt8], to descriptor: Int32) {
    // Not by FileHandle, which ends the process where nobody reads any more.
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Foundation.write(
          descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        // The lines are lost, the answers are not.
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }
  }

  /// Methods and paths are logged as sent; what could end or forge a line, or move a terminal's cursor,
  /// is escaped as in JSON.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22, 0x5c: result += "\\\(scalar)"
      case 0..<0x20, 0x7f..<0xa0:
        result += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

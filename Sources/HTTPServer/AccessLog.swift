import Foundation
import Synchronization
import ZigguratConcurrency
import ZigguratTileServing

/// Logs one line per response to stderr or a file. Lines are buffered and written a few times a second.
package final class AccessLog: Sendable {
  /// The form of a line.
  package enum Style: String, Codable, Sendable, CaseIterable {
    /// The format for people. A line has the time, client, method, path with query, status, bytes and seconds. The
    /// Referer, the User-Agent and the reason of a 5xx follow in quotation marks, as in nginx's `combined`.
    case text
    /// The format for programs: a JSON object with the same keys. Keys without a value are omitted.
    case json
    case none
  }

  /// Maximum bytes of lines that wait to be written: a reader that has stopped must not fill the memory.
  private static let maxPending = 16 << 20

  /// Maximum bytes of a header field in a line: clients choose its length.
  private static let maxFieldLength = 512

  /// The open file that lines are written to.
  private struct Destination {
    /// The descriptor of stderr or of the file.
    var descriptor: Int32
    /// The rest of a partially written line, written before all other lines.
    var torn: [UInt8] = []
    /// Lines lost since the last failed write.
    var lost = 0
    var isFailing = false
  }

  private let style: Style
  private let pending = Mutex<[UInt8]>([])
  private let path: String?
  private let destination: Mutex<Destination>
  private let metrics: Metrics
  /// Called with a message for the operator.
  private let report: @Sendable (String) -> Void

  /// Returns nil if nothing is to be logged.
  ///
  /// - Parameter path: the file to append to; nil for stderr.
  init?(
    _ style: Style, to path: String?, metrics: Metrics, report: @escaping @Sendable (String) -> Void
  ) throws(HTTPServer.StartError) {
    guard style != .none else { return nil }
    self.style = style
    self.path = path
    self.metrics = metrics
    self.report = report
    let descriptor =
      try path.map { (path) throws(HTTPServer.StartError) in try Self.open(path) } ?? STDERR_FILENO
    destination = Mutex(Destination(descriptor: descriptor))
    if path != nil { endLine(of: descriptor) }
  }

  /// Ends a line that an earlier process wrote only in part.
  private func endLine(of descriptor: Int32) {
    var status = stat()
    var last: UInt8 = 0x0a
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0,
      let path, let reader = Optional(Foundation.open(path, O_RDONLY | O_CLOEXEC)), reader >= 0
    else { return }
    defer { close(reader) }
    if pread(reader, &last, 1, status.st_size - 1) == 1, last != 0x0a {
      pending.withLock { $0.insert(0x0a, at: 0) }
    }
  }

  /// Closes a file that was moved away and opens a new one at its path. If that fails, the old file stays in use.
  func reopen() throws(HTTPServer.StartError) {
    guard let path else { return }
    flush()
    let fresh = try Self.open(path)
    destination.withLock { destination in
      close(destination.descriptor)
      destination.descriptor = fresh
      // The rest of a line of the old file.
      if !destination.torn.isEmpty { lose(1, &destination) }
      destination.torn = []
    }
    endLine(of: fresh)
  }

  private static func open(_ path: String) throws(HTTPServer.StartError) -> Int32 {
    // Not world-readable: the log contains client addresses.
    let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0o640)
    guard descriptor >= 0 else {
      throw HTTPServer.StartError(cannot: "open the log \(path)", errno: errno)
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

  /// The log entry of a response, written when the response has been sent.
  struct Entry {
    let client: String
    let method: String
    let target: (path: String, query: String)
    let status: Int
    let bytes: Int
    /// The value of the Referer field: the address of the linking page.
    let referer: String?
    /// The value of the User-Agent field.
    let userAgent: String?
    /// The reason for a status of 500 or more.
    let reason: String?
  }

  /// - Parameter microseconds: the time from the request's headers to the end of the response.
  func add(_ entry: Entry, microseconds: Int) {
    var line: String
    let time = Timestamp.now
    let (client, status, bytes) = (entry.client, entry.status, entry.bytes)
    let (method, path) = (Self.escaped(entry.method), Self.escaped(entry.target.path))
    let query = Self.escaped(entry.target.query)
    let (referer, userAgent) = (entry.referer.map(Self.field), entry.userAgent.map(Self.field))
    let fraction = String(microseconds % 1_000_000)
    let seconds =
      "\(microseconds / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    switch style {
    case .none: return
    case .text:
      line =
        "\(time) \(client) \(method) \(path)\(query.isEmpty ? "" : "?\(query)") \(status) \(bytes) \(seconds)"
        + " \"\(referer ?? "-")\" \"\(userAgent ?? "-")\""
        + (entry.reason.map { " \"\(Self.escaped($0))\"" } ?? "")
    case .json:
      line =
        "{\"time\":\"\(time)\",\"client\":\"\(client)\",\"method\":\"\(method)\","
        + "\"path\":\"\(path)\",\"query\":\"\(query)\",\"status\":\(status),\"bytes\":\(bytes),"
        + "\"seconds\":\(seconds)"
        + (referer.map { ",\"referer\":\"\($0)\"" } ?? "")
        + (userAgent.map { ",\"user_agent\":\"\($0)\"" } ?? "")
        + (entry.reason.map { ",\"reason\":\"\(Self.escaped($0))\"" } ?? "") + "}"
    }
    line.append("\n")
    let isTaken = pending.withLock { pending in
      guard pending.count < Self.maxPending else { return false }
      pending.append(contentsOf: line.utf8)
      return true
    }
    // Not by `lose`: the thread that writes holds the destination while it waits for the reader.
    if !isTaken { metrics.lostLogLines.wrappingAdd(1, ordering: .relaxed) }
  }

  func flush() {
    let bytes = pending.withLock { pending in
      defer { pending = [] }
      return pending
    }
    // The lock is held during the write, because `reopen` closes the descriptor.
    destination.withLock { write(bytes, to: &$0) }
  }

  /// Writes lines. Lines are lost if the write fails; responses do not wait for it. The rest of a partially written
  /// line is written as soon as possible, so that the file has whole lines.
  private func write(_ fresh: [UInt8], to destination: inout Destination) {
    let isMidLine = !destination.torn.isEmpty
    let bytes = isMidLine ? destination.torn + fresh : fresh
    guard !bytes.isEmpty else { return }
    // Not by FileHandle, which ends the process if the reader has closed the pipe.
    let (count, code) = bytes.withUnsafeBytes { bytes in
      var count = 0
      while count < bytes.count {
        let written = Foundation.write(
          destination.descriptor, UnsafeRawBufferPointer(rebasing: bytes[count...]).baseAddress,
          bytes.count - count)
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { return (count, errno) }
        count += written
      }
      return (count, 0)
    }
    destination.torn = []
    guard count < bytes.count else {
      guard destination.isFailing else { return }
      report("lines of the access log are written again; \(destination.lost) were lost")
      destination.isFailing = false
      destination.lost = 0
      return
    }
    var rest = bytes[count...]
    if count > 0 ? bytes[count - 1] != 0x0a : isMidLine {
      let end = rest.firstIndex(of: 0x0a).map { $0 + 1 } ?? rest.endIndex
      destination.torn = Array(rest[..<end])
      rest = rest[end...]
    }
    lose(rest.count(where: { $0 == 0x0a }), &destination)
    guard !destination.isFailing else { return }
    destination.isFailing = true
    report("cannot write the access log: \(String(cString: strerror(code)).lowercased()); its lines are lost")
  }

  private func lose(_ lines: Int, _ destination: inout Destination) {
    destination.lost += lines
    metrics.lostLogLines.wrappingAdd(lines, ordering: .relaxed)
  }

  /// Returns the value of a header field, truncated and escaped.
  private static func field(_ value: String) -> String {
    guard value.utf8.count > maxFieldLength else { return escaped(value) }
    return escaped(String(decoding: value.utf8.prefix(maxFieldLength), as: UTF8.self)) + "…"
  }

  /// Returns the text with unsafe characters escaped as in JSON. Such characters could end or forge a line, move a
  /// terminal's cursor or change the order of characters.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22, 0x5c: result += "\\\(scalar)"
      case 0x20..<0x7f: result.unicodeScalars.append(scalar)
      default:
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator:
          for unit in UTF16.encode(scalar)! {
            let digits = String(unit, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
          }
        default: result.unicodeScalars.append(scalar)
        }
      }
    }
    return result
  }
}

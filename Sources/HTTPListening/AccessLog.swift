import CMicroHTTPD
import Foundation
import Synchronization

/// One line per answer on stderr, gathered and written a few times a second.
public final class AccessLog: Sendable {
  /// How a line looks.
  public enum Style: String, Sendable, CaseIterable {
    /// For people: client, method, path, status, bytes.
    case text
    /// For programs: an object with the same keys, and the time.
    case json
    case none
  }

  private let style: Style
  private let pending = Mutex<[UInt8]>([])

  /// Nil where nothing is to be logged.
  init?(_ style: Style) {
    guard style != .none else { return nil }
    self.style = style
  }

  func start() {
    let thread = Thread { [weak self] in
      while let log = self {
        log.flush()
        usleep(200_000)
      }
    }
    thread.start()
  }

  func add(_ connection: OpaquePointer, _ method: String, _ path: String, _ status: Int, _ bytes: Int) {
    let client = Self.client(connection)
    var line: String
    switch style {
    case .none: return
    case .text: line = "\(client) \(method) \(path) \(status) \(bytes)"
    case .json:
      let time = Date().ISO8601Format(.iso8601(timeZone: .gmt, includingFractionalSeconds: true))
      line =
        "{\"time\":\"\(time)\",\"client\":\"\(client)\",\"method\":\"\(method)\","
        + "\"path\":\"\(Self.escaped(path))\",\"status\":\(status),\"bytes\":\(bytes)}"
    }
    line.append("\n")
    pending.withLock { $0.append(contentsOf: line.utf8) }
  }

  func flush() {
    let bytes = pending.withLock { pending in
      defer { pending = [] }
      return pending
    }
    if !bytes.isEmpty { FileHandle.standardError.write(Data(bytes)) }
  }

  /// Paths are logged as sent; what could end or forge a line is escaped.
  private static func escaped(_ path: String) -> String {
    path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }

  private static func client(_ connection: OpaquePointer) -> String {
    guard let address = zg_client_address(connection) else { return "-" }
    let size =
      address.pointee.sa_family == UInt16(AF_INET6)
      ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let code = getnameinfo(address, socklen_t(size), &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST)
    return code == 0 ? name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) } : "-"
  }
}

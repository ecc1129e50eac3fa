import CMicroHTTPD
import Glibc
import HTTPMessages
import TileServing

/// A refusal that is written to the socket itself: where libmicrohttpd takes no answer any more, or would send
/// the head of its own twice (0.9.75, on a malformed Content-Length).
enum DirectRefusal {
  /// After it the daemon can write nothing more to the connection.
  /// - Parameters:
  ///   - reason: the status in words (RFC 9110, section 15).
  ///   - why: a line.
  static func send(_ status: Int, _ reason: String, _ why: String, to socket: Int32) {
    let text =
      "HTTP/1.1 \(status) \(reason)\r\nDate: \(HTTPDate.text(time(nil)))\r\nConnection: close\r\n"
      + "Content-Type: text/plain; charset=utf-8\r\nContent-Length: \(why.utf8.count)\r\n\r\n\(why)"
    var bytes = Array(text.utf8)
    // It fits into a socket's buffer; who does not read what came before it does without.
    _ = Glibc.send(socket, &bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    shutdown(socket, Int32(SHUT_WR))
  }

  /// What the daemon refuses by itself before anybody is asked: a length that is no number, or too large a one.
  /// - Returns: whether it was refused.
  static func sendIfLengthIsMalformed(_ connection: OpaquePointer, _ metrics: Metrics) -> Bool {
    guard MHD_lookup_connection_value(connection, .HEADER_KIND, "Transfer-Encoding") == nil,
      let text = MHD_lookup_connection_value(connection, .HEADER_KIND, "Content-Length"),
      let fault = Fault(UnsafeBufferPointer(start: text, count: strlen(text)))
    else { return false }
    switch fault {
    case .tooLarge:
      send(413, "Content Too Large", "the Content-Length is too large\n", to: socket(connection))
    case .noNumber: send(400, "Bad Request", "the Content-Length is no number\n", to: socket(connection))
    }
    metrics.add(.page, status: fault == .tooLarge ? 413 : 400, bytes: 0, microseconds: 0)
    return true
  }

  private static func socket(_ connection: OpaquePointer) -> Int32 { zg_connection_socket(connection) }

  enum Fault {
    case noNumber, tooLarge

    /// Nil for a number below 2^63.
    init?(_ text: UnsafeBufferPointer<CChar>) {
      guard !text.isEmpty, text.allSatisfy({ (0x30...0x39).contains($0) }) else {
        self = .noNumber
        return
      }
      var value = 0
      for digit in text {
        let (tens, isOver) = value.multipliedReportingOverflow(by: 10)
        let (sum, isFull) = tens.addingReportingOverflow(Int(digit - 0x30))
        guard !isOver, !isFull else {
          self = .tooLarge
          return
        }
        value = sum
      }
      return nil
    }
  }
}

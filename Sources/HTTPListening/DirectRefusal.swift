import CMicroHTTPD
import Glibc
import HTTPMessages
import TileServing

/// A refusal that is written to the socket itself: where libmicrohttpd takes no answer any more, or would send
/// the head of its own twice (0.9.75, on a malformed Content-Length).
enum DirectRefusal {
  /// After it the daemon can write nothing more to the connection.
  static func send(_ why: MalformedRequest, to socket: Int32) {
    var bytes = why.message(at: time(nil))
    // It fits into a socket's buffer; who does not read what came before it does without.
    _ = Glibc.send(socket, &bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    shutdown(socket, Int32(SHUT_WR))
  }

  /// What the daemon refuses by itself before anybody is asked: a length that is no number, or too large a one.
  /// - Returns: whether it was refused.
  static func sendIfLengthIsMalformed(_ connection: OpaquePointer, _ metrics: Metrics) -> Bool {
    guard header(connection, "Transfer-Encoding") == nil,
      let text = header(connection, "Content-Length"), let fault = ContentLengthFault(view(text))
    else { return false }
    let why: MalformedRequest =
      switch fault {
      case .tooLarge: .lengthTooLarge
      case .noNumber: .lengthNoNumber
      }
    send(why, to: zg_connection_socket(connection))
    metrics.add(.page, status: why.status, bytes: 0, microseconds: 0)
    return true
  }
}

import Glibc
import ZigguratCMicroHTTPD
import ZigguratHTTPMessages
import ZigguratTileServing

/// A refusal that is written to the socket itself, where libmicrohttpd does not take a response any more.
enum DirectRefusal {
  /// Sends the refusal and ends this side of the connection: the daemon can write nothing more to it.
  /// - Parameter isHead: whether the request is known to be a HEAD, to which no body is sent.
  static func send(_ why: MalformedRequest, to socket: Int32, isHead: Bool) {
    var bytes = why.message(at: time(nil), isHead: isHead)
    // It fits into a socket's buffer, unless the client has not read the answers before it.
    _ = Glibc.send(socket, &bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    shutdown(socket, Int32(SHUT_WR))
  }
}

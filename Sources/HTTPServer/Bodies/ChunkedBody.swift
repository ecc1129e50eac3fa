import Glibc
import ZigguratCMicroHTTPD

/// The start of a response without a body and without a known length: a 304, or the response to a HEAD.
///
/// Such a response ends with its headers, and the connection stays open (RFC 9112, section 6.3). libmicrohttpd (0.9.75)
/// either closes the connection or sends the end of chunks, which a client would parse as the next response. Only for a
/// 204 it sends neither a length nor chunks. Therefore the status line is started here, and the library gets a 204. It
/// then writes `ICY 204 No Content`, which ends the reason phrase; clients ignore that (RFC 9112, section 4).
enum ChunkedBody {
  /// The status to queue after a start. The flag has the library write `ICY` for `HTTP/1.1`, so that nothing in the
  /// answer looks like the start of another.
  static let queuedStatus = UInt32(MHD_HTTP_NO_CONTENT) | 1 << 31

  enum Start {
    case sent
    /// The socket has no room: nothing was sent.
    case notSent
    /// Sent in part: the connection cannot go on.
    case broken
  }

  static func start(_ status: Int, at socket: Int32) -> Start {
    let reason = MHD_get_reason_phrase_for(UInt32(status)).map { String(cString: $0) } ?? "Unknown"
    let line = Array("HTTP/1.1 \(status) \(reason) ".utf8)
    // It goes out with the headers. All answers before it were taken by the system.
    let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT) | Int32(MSG_MORE)
    let count = Glibc.send(socket, line, line.count, flags)
    return count == line.count ? .sent : count > 0 ? .broken : .notSent
  }
}

import CMicroHTTPD
import Glibc

/// Request shapes that libmicrohttpd lets pass and that two servers in a row could understand
/// differently (RFC 9112, sections 3.2, 5.1 and 6.3); they get 400 and the connection ends.
enum RequestGuard {
  private struct Seen {
    var hosts = 0
    var lengths = 0
    var encodings = 0
    var hasBadName = false
    var hasBadValue = false
  }

  /// Why the request is refused, or nil.
  static func refusal(_ connection: OpaquePointer, _ version: UnsafePointer<CChar>) -> StaticString? {
    var seen = Seen()
    _ = MHD_get_connection_values_n(
      connection, .HEADER_KIND,
      { seen, _, name, nameSize, value, valueSize in
        guard let seen = seen?.assumingMemoryBound(to: Seen.self), let name else { return .YES }
        if nameSize == 0 || name[nameSize - 1] == 0x20 || name[nameSize - 1] == 0x09 {
          seen.pointee.hasBadName = true
        }
        if let value, memchr(value, 0, valueSize) != nil { seen.pointee.hasBadValue = true }
        // Told apart by length first: this is done for every header of every request.
        switch nameSize {
        case 4 where strncasecmp(name, "host", 4) == 0: seen.pointee.hosts += 1
        case 14 where strncasecmp(name, "content-length", 14) == 0: seen.pointee.lengths += 1
        case 17 where strncasecmp(name, "transfer-encoding", 17) == 0: seen.pointee.encodings += 1
        default: break
        }
        return .YES
      }, &seen)
    if seen.hasBadName { return "a header's name is malformed\n" }
    if seen.hasBadValue { return "a header holds a NUL\n" }
    if seen.hosts > 1 { return "more than one Host\n" }
    if seen.lengths > 1 { return "more than one Content-Length\n" }
    if seen.encodings > 1 || (seen.encodings > 0 && seen.lengths > 0) {
      return "Content-Length beside Transfer-Encoding\n"
    }
    return nil
  }
}

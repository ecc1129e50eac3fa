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
        if !RequestGuard.isToken(name, nameSize) { seen.pointee.hasBadName = true }
        // The daemon ends a value at CR LF by two NULs. Anything else behind the first one means that the
        // value held a NUL of its own, or that its line ended in a bare LF.
        if let value, value[valueSize] != 0 || value[valueSize + 1] != 0 { seen.pointee.hasBadValue = true }
        // Told apart by length first: this is done for every header of every request.
        switch nameSize {
        case 4 where strncasecmp(name, "host", 4) == 0: seen.pointee.hosts += 1
        case 14 where strncasecmp(name, "content-length", 14) == 0: seen.pointee.lengths += 1
        case 17 where strncasecmp(name, "transfer-encoding", 17) == 0: seen.pointee.encodings += 1
        default: break
        }
        return .YES
      }, &seen)
    // The request line, too, ends in two NULs where it ended in CR LF: "HTTP/1.1" has eight bytes.
    if version[8] == 0, version[9] != 0 { return "the request line does not end in CR LF\n" }
    if seen.hasBadName { return "a header's name is malformed\n" }
    if seen.hasBadValue { return "a header holds a NUL, or its line does not end in CR LF\n" }
    if seen.hosts > 1 { return "more than one Host\n" }
    if seen.lengths > 1 { return "more than one Content-Length\n" }
    if seen.encodings > 1 || (seen.encodings > 0 && seen.lengths > 0) {
      return "Content-Length beside Transfer-Encoding\n"
    }
    return nil
  }

  /// Whether a header's name is a token (RFC 9110, section 5.6.2).
  private static func isToken(_ name: UnsafePointer<CChar>, _ size: Int) -> Bool {
    for at in 0..<size {
      switch UInt8(bitPattern: name[at]) {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d: continue
      case 0x21, 0x23...0x27, 0x2a, 0x2b, 0x2e, 0x5e...0x60, 0x7c, 0x7e: continue
      default: return false
      }
    }
    return size > 0
  }
}

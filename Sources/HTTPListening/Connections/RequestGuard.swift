import CMicroHTTPD
import Glibc
import TileServing

/// Request shapes that libmicrohttpd lets pass and that two servers in a row could understand
/// differently (RFC 9112, sections 3.2, 5 and 6.3); they get 400 and the connection ends.
enum RequestGuard {
  /// What was seen of the headers on the way, as sent.
  struct Notes {
    /// Nothing where there is none.
    fileprivate(set) var host = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// The first line of X-Forwarded-For, nothing where there is none.
    fileprivate(set) var forwarded = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    fileprivate(set) var forwardedLines = 0
    /// The body comes in chunks.
    fileprivate(set) var isChunked = false
  }

  private struct Seen {
    let site: Unmanaged<Site>
    var notes = Notes()
    var hosts = 0
    var sessionCookies = 0
    var lengths = 0
    var encodings = 0
    var hasBadName = false
    var hasBadValue = false
    var hasBadHost = false
    var hasBadLength = false
    var hasOtherEncoding = false
    /// Where the next header has to begin.
    var end: UnsafePointer<CChar>
  }

  /// Why the request is refused, or nil.
  static func refusal(
    _ site: Site, _ connection: OpaquePointer, _ method: UnsafePointer<CChar>, _ target: RequestTarget,
    _ version: UnsafePointer<CChar>, _ notes: inout Notes
  ) -> StaticString? {
    if !target.fills(from: method, to: version) { return "the request line holds a NUL or a spare space\n" }
    if target.hasSpace { return "the request line holds more than method, target and version\n" }
    // The request line, too, ends in two NULs where it ended in CR LF: "HTTP/1.1" has eight bytes.
    if version[8] != 0 || version[9] != 0 { return "the request line does not end in CR LF\n" }
    var seen = Seen(site: .passUnretained(site), end: version + 10)
    _ = MHD_get_connection_values_n(
      connection, .HEADER_KIND,
      { seen, _, name, nameSize, value, valueSize in
        guard let seen = seen?.assumingMemoryBound(to: Seen.self), let name else { return .YES }
        // One line behind the other: a fold, or a line that the daemon dropped, leaves a gap.
        if !RequestGuard.isToken(name, nameSize) || name != seen.pointee.end {
          seen.pointee.hasBadName = true
        }
        guard let value else { return .NO }
        // The daemon ends a value at CR LF by two NULs. Anything else behind the first one means that the
        // value held a NUL of its own, or that its line ended in a bare LF.
        if value[valueSize] != 0 || value[valueSize + 1] != 0 || memchr(value, 0x0d, valueSize) != nil {
          seen.pointee.hasBadValue = true
        }
        seen.pointee.end = value + valueSize + 2
        // Told apart by length first: this is done for every header of every request.
        switch nameSize {
        case 4 where strncasecmp(name, "host", 4) == 0:
          seen.pointee.hosts += 1
          seen.pointee.notes.host = RequestGuard.bytes(value, valueSize)
          if !RequestGuard.isHost(value, valueSize) { seen.pointee.hasBadHost = true }
        case 6 where strncasecmp(name, "cookie", 6) == 0:
          seen.pointee.sessionCookies += seen.pointee.site._withUnsafeGuaranteedRef {
            $0.sessionCookies(in: RequestGuard.bytes(value, valueSize))
          }
        case 14 where strncasecmp(name, "content-length", 14) == 0:
          seen.pointee.lengths += 1
          // 2^64 - 1 is the daemon's word for a length that it does not know.
          let digits = UnsafeBufferPointer(start: value, count: valueSize)
          if DirectRefusal.Fault(digits) != nil { seen.pointee.hasBadLength = true }
        case 15 where strncasecmp(name, "x-forwarded-for", 15) == 0:
          let notes = seen.pointee.notes
          if notes.forwardedLines == 0 { seen.pointee.notes.forwarded = RequestGuard.bytes(value, valueSize) }
          seen.pointee.notes.forwardedLines += 1
        case 17 where strncasecmp(name, "transfer-encoding", 17) == 0:
          seen.pointee.encodings += 1
          if valueSize != 7 || strncasecmp(value, "chunked", 7) != 0 { seen.pointee.hasOtherEncoding = true }
        default: break
        }
        return .YES
      }, &seen)
    notes = seen.notes
    notes.isChunked = seen.encodings > 0
    if seen.hasBadName { return "a header's name is malformed\n" }
    // Behind the last one CR LF twice, and nothing else.
    if seen.hasBadValue || seen.end + 2 != method + zg_head_size(connection) {
      return "a header holds a NUL or CR, or its line does not end in CR LF\n"
    }
    if seen.hasBadHost { return "the Host is malformed\n" }
    if seen.hosts == 0, version[7] != 0x30 { return "a request of HTTP/1.1 needs a Host\n" }
    if seen.hosts > 1 { return "more than one Host\n" }
    // Which of them is the server's own nobody can say.
    if seen.sessionCookies > 1 { return "more than one cookie of a session\n" }
    if seen.lengths > 1 { return "more than one Content-Length\n" }
    if seen.encodings > 1 || (seen.encodings > 0 && seen.lengths > 0) {
      return "Content-Length beside Transfer-Encoding\n"
    }
    if seen.hasBadLength { return "the Content-Length is no number below 2^63\n" }
    // Where such a body ends nobody can tell (RFC 9112, sections 6.1 and 6.3).
    if seen.hasOtherEncoding || (seen.encodings > 0 && version[7] == 0x30) {
      return "a Transfer-Encoding other than chunked, or one of HTTP/1.0\n"
    }
    return nil
  }

  private static func bytes(_ text: UnsafePointer<CChar>, _ size: Int) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self), count: size)
  }

  /// Whether a Host may be one, by its characters (RFC 3986, section 3.2.2); none at all is allowed.
  private static func isHost(_ text: UnsafePointer<CChar>, _ size: Int) -> Bool {
    var size = size
    while size > 0, text[size - 1] == 0x20 || text[size - 1] == 0x09 { size -= 1 }
    for at in 0..<size {
      switch UInt8(bitPattern: text[at]) {
      case 0x30...0x3b, 0x41...0x5b, 0x61...0x7a, 0x2d, 0x2e: continue
      case 0x21, 0x24...0x2c, 0x3d, 0x5d, 0x5f, 0x7e: continue
      default: return false
      }
    }
    return true
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

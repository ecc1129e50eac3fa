import Glibc
import ZigguratCMicroHTTPD
import ZigguratHTTPMessages
import ZigguratTileServing

/// Refuses request forms that libmicrohttpd accepts, but that two servers in a row could interpret differently (RFC
/// 9112, sections 3.2, 5 and 6.3). They get 400, and the connection ends.
enum RequestSmugglingGuard {
  /// Facts about the headers that were seen, as sent.
  struct Notes {
    /// Empty if there is no Host.
    fileprivate(set) var host = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// The first line of X-Forwarded-For; empty if there is none.
    fileprivate(set) var forwarded = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    fileprivate(set) var forwardedLines = 0
    /// The value of the first Cookie header; nil if there is none.
    fileprivate(set) var cookie: UnsafePointer<CChar>?
    /// Bytes of the headers, including line ends.
    fileprivate(set) var headerSize = 0
    fileprivate(set) var headerCount = 0
    fileprivate(set) var framing = RequestFraming()
  }

  private struct Seen {
    let tileServer: Unmanaged<TileServer>
    var notes = Notes()
    var hasBadName = false
    var hasBadValue = false
    /// The address at which the next header must begin.
    var end: UnsafePointer<CChar>
  }

  /// Returns the reason to refuse the request of a connection; `nil` if it is well-formed.
  /// - Parameters:
  ///   - version: the HTTP version in the request line.
  ///   - notes: filled as far as the headers were seen.
  static func refusal(
    of connection: HTTPConnection, _ version: UnsafePointer<CChar>, _ notes: inout Notes
  ) -> MalformedRequest? {
    let (method, target) = (connection.request.method, connection.request.target)
    if !target.fills(from: method, to: version) { return .requestLineHasSpareBytes }
    if target.hasSpace { return .requestLineHasSpareText }
    // The request line, too, ends in two NULs if it ended in CR LF: "HTTP/1.1" has eight bytes.
    if version[8] != 0 || version[9] != 0 { return .requestLineEnd }
    var seen = Seen(tileServer: .passUnretained(connection.server.tileServer), end: version + 10)
    _ = MHD_get_connection_values_n(
      connection.handle, .HEADER_KIND,
      { seen, _, name, nameSize, value, valueSize in
        guard let seen = seen?.assumingMemoryBound(to: Seen.self), let name, !CookieDecoy.isDecoy(name)
        else { return .YES }
        // Lines are adjacent. A folded line, or a line that the daemon dropped, leaves a gap.
        if !FieldSyntax.isToken(RequestSmugglingGuard.bytes(name, nameSize)) || name != seen.pointee.end {
          seen.pointee.hasBadName = true
        }
        guard let value else { return .NO }
        seen.pointee.notes.headerCount += 1
        // The daemon replaces the CR LF after a value by two NULs. Anything else after the first one means that the
        // value contained a NUL, or that its line ended in a bare LF.
        if value[valueSize] != 0 || value[valueSize + 1] != 0 || memchr(value, 0x0d, valueSize) != nil {
          seen.pointee.hasBadValue = true
        }
        seen.pointee.end = value + valueSize + 2
        // By length first: this runs for every header of every request.
        switch nameSize {
        case 4 where strncasecmp(name, "host", 4) == 0:
          seen.pointee.notes.host = RequestSmugglingGuard.bytes(value, valueSize)
          seen.pointee.notes.framing.seeHost(RequestSmugglingGuard.bytes(value, valueSize))
        case 6 where strncasecmp(name, "cookie", 6) == 0:
          if seen.pointee.notes.cookie == nil { seen.pointee.notes.cookie = value }
          seen.pointee.notes.framing.sessionCookies += seen.pointee.tileServer._withUnsafeGuaranteedRef {
            $0.sessionCookies(in: RequestSmugglingGuard.bytes(value, valueSize))
          }
        case 14 where strncasecmp(name, "content-length", 14) == 0:
          seen.pointee.notes.framing.seeContentLength(RequestSmugglingGuard.bytes(value, valueSize))
        case 15 where strncasecmp(name, "x-forwarded-for", 15) == 0:
          let notes = seen.pointee.notes
          if notes.forwardedLines == 0 {
            seen.pointee.notes.forwarded = RequestSmugglingGuard.bytes(value, valueSize)
          }
          seen.pointee.notes.forwardedLines += 1
        case 17 where strncasecmp(name, "transfer-encoding", 17) == 0:
          seen.pointee.notes.framing.seeTransferEncoding(RequestSmugglingGuard.bytes(value, valueSize))
        default: break
        }
        return .YES
      }, &seen)
    notes = seen.notes
    notes.headerSize = seen.end - version - 10
    if seen.hasBadName { return .headerName }
    // After the last header, there is CR LF twice, and nothing else.
    if seen.hasBadValue || seen.end + 2 != method + zg_head_size(connection.handle) { return .headerLine }
    if let authority = target.authority {
      // A Host that is present must still be valid.
      notes.framing.seeAuthority(authority)
      notes.host = authority
    }
    return notes.framing.error(isHTTP10: version[7] == 0x30)
  }

  private static func bytes(_ text: UnsafePointer<CChar>, _ size: Int) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self), count: size)
  }
}

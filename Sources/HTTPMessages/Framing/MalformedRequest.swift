/// The reason why a request is refused before its target is considered.
///
/// Two servers in a row could understand the request differently (RFC 9112, sections 2.2, 3.2, 5, 6.1, 6.3 and 7.1), or
/// it is too long. The following bytes of its connection cannot be trusted, so that the connection is closed.
package enum MalformedRequest: CaseIterable, Sendable {
  case requestLineHasSpareBytes, requestLineHasSpareText, requestLineEnd
  case headerName, headerLine
  case host, noHost, hosts
  case sessionCookies
  case lengths, lengthBesideEncoding, lengthNoNumber, lengthOutOfRange, lengthTooLarge
  case encoding, chunkLine, chunkTooLarge, longChunkLine
  case longURL, longHead
  case version, unparsable

  package var status: Int { answer.status }

  /// The status code and its reason phrase (RFC 9110, section 15).
  private var answer: (status: Int, reason: StaticString) {
    switch self {
    case .longURL: (414, "URI Too Long")
    case .lengthTooLarge, .chunkTooLarge, .longChunkLine: (413, "Content Too Large")
    case .longHead: (431, "Request Header Fields Too Large")
    case .version: (505, "HTTP Version Not Supported")
    case .requestLineHasSpareBytes, .requestLineHasSpareText, .requestLineEnd, .headerName, .headerLine,
      .host, .noHost, .hosts, .sessionCookies, .lengths, .lengthBesideEncoding, .lengthNoNumber,
      .lengthOutOfRange, .encoding, .chunkLine, .unparsable:
      (400, "Bad Request")
    }
  }

  /// A line for the author of the client.
  package var text: StaticString {
    switch self {
    case .requestLineHasSpareBytes: "the request line holds a NUL or a spare space\n"
    case .requestLineHasSpareText: "the request line holds more than method, target and version\n"
    case .requestLineEnd: "the request line does not end in CR LF\n"
    case .headerName: "a header's name is malformed\n"
    case .headerLine: "a header holds a NUL or CR, or its line does not end in CR LF\n"
    case .host: "the Host is malformed\n"
    case .noHost: "a request of HTTP/1.1 needs a Host\n"
    case .hosts: "more than one Host\n"
    case .sessionCookies: "more than one cookie of a session\n"
    case .lengths: "more than one Content-Length\n"
    case .lengthBesideEncoding: "Content-Length beside Transfer-Encoding\n"
    case .lengthNoNumber: "the Content-Length is not a number\n"
    case .lengthOutOfRange: "the Content-Length is not a number below 2^63\n"
    case .lengthTooLarge: "the Content-Length is too large\n"
    case .encoding: "a Transfer-Encoding other than chunked, or one of HTTP/1.0\n"
    case .chunkLine: "a chunk's line does not end in CR LF, or holds a control\n"
    case .chunkTooLarge: "a chunk is too large\n"
    case .longChunkLine: "the line before a chunk is too long\n"
    case .longURL: "the URL is too long\n"
    case .longHead: "the request's headers are too long\n"
    case .version: "the HTTP version is not supported; this server speaks HTTP/1.1 and HTTP/1.0\n"
    case .unparsable: "the request line or a header is malformed\n"
    }
  }

  private static let mediaType = "text/plain; charset=utf-8"

  package var response: Response {
    Response(
      status, [("Content-Type", Self.mediaType)] + Response.caution + [("Connection", "close")],
      .bytes(Array("\(text)".utf8)))
  }

  /// Returns the complete response in bytes, for places where no other code writes it.
  /// - Parameter time: the present time, seconds since 1970.
  /// - Parameter isHead: whether the request is a HEAD.
  package func message(at time: Int, isHead: Bool = false) -> [UInt8] {
    var message =
      "HTTP/1.1 \(answer.status) \(answer.reason)\r\nDate: \(HTTPDate.text(time))\r\nConnection: close\r\n"
      + "Content-Type: \(Self.mediaType)\r\nContent-Length: \(text.utf8CodeUnitCount)\r\n"
    for (name, value) in Response.caution { message += "\(name): \(value)\r\n" }
    message += "\r\n"
    if !isHead { message += "\(text)" }
    return Array(message.utf8)
  }
}

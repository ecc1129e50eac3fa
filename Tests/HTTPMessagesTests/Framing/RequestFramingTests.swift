import Testing
import ZigguratHTTPMessages

struct RequestFramingTests {
  private static func view<Result>(_ text: String, _ use: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    var text = text
    return text.withUTF8(use)
  }

  private static func framing(_ headers: [(String, String)], cookies: Int = 0) -> RequestFraming {
    var framing = RequestFraming()
    framing.sessionCookies = cookies
    for (name, value) in headers {
      switch name {
      case "Host": view(value) { framing.seeHost($0) }
      case "Content-Length": view(value) { framing.seeContentLength($0) }
      default: view(value) { framing.seeTransferEncoding($0) }
      }
    }
    return framing
  }

  @Test(
    "a request that two servers could parse differently is rejected",
    arguments: [
      ([("Host", "example.org")], nil), ([("Host", "[::1]:80 ")], nil), ([("Host", "")], nil),
      ([], .noHost), ([("Host", "a"), ("Host", "a")], .hosts), ([("Host", "a/b")], .host),
      ([("Host", "a b")], .host), ([("Host", "a"), ("Host", "b@c")], .host),
      ([("Host", "a"), ("Content-Length", "0")], nil),
      ([("Host", "a"), ("Content-Length", "9223372036854775807")], nil),
      ([("Host", "a"), ("Content-Length", "9223372036854775808")], .lengthOutOfRange),
      ([("Host", "a"), ("Content-Length", "+1")], .lengthOutOfRange),
      ([("Host", "a"), ("Content-Length", "")], .lengthOutOfRange),
      ([("Host", "a"), ("Content-Length", "1"), ("Content-Length", "1")], .lengths),
      ([("Host", "a"), ("Transfer-Encoding", "Chunked")], nil),
      ([("Host", "a"), ("Transfer-Encoding", "gzip")], .encoding),
      ([("Host", "a"), ("Transfer-Encoding", "gzip, chunked")], .encoding),
      ([("Host", "a"), ("Transfer-Encoding", "chunked "), ("Content-Length", "1")], .lengthBesideEncoding),
      (
        [("Host", "a"), ("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")],
        .lengthBesideEncoding
      ),
    ] as [([(String, String)], MalformedRequest?)])
  func errors(headers: [(String, String)], error: MalformedRequest?) {
    #expect(Self.framing(headers).error(isHTTP10: false) == error)
  }

  @Test("HTTP/1.0 needs no Host and has no chunks")
  func old() {
    #expect(Self.framing([]).error(isHTTP10: true) == nil)
    #expect(Self.framing([("Transfer-Encoding", "chunked")]).error(isHTTP10: true) == .encoding)
  }

  @Test("a request has at most one session cookie")
  func cookies() {
    #expect(Self.framing([("Host", "a")], cookies: 1).error(isHTTP10: false) == nil)
    #expect(Self.framing([("Host", "a")], cookies: 2).error(isHTTP10: false) == .sessionCookies)
  }

  @Test("a header name is a token, for every byte")
  func tokens() {
    let allowed = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    for byte in UInt8.min...UInt8.max {
      for name in [[byte], [0x61, byte], [byte, 0x61]] {
        #expect(name.withUnsafeBufferPointer { FieldSyntax.isToken($0) } == allowed.contains(byte), "\(byte)")
      }
    }
    #expect(!Self.view("") { FieldSyntax.isToken($0) })
  }

  @Test(
    "chunk lines end in CR LF and have no control characters",
    arguments: [
      ("", false), ("5\r\n", false), ("\r\n5\r\n", false), ("\r\n5;a=\t\"b\"\r\n", false), ("5\n", true),
      ("\n5\r\n", true), ("\r\n5\n", true), ("5\r", true), ("5;\u{1}\r\n", true), ("5\r;\r\n", true),
      ("5;\u{7f}\r\n", true), ("\r\n5;ü\r\n", false),
    ])
  func chunks(line: String, isMalformed: Bool) {
    #expect(Self.view(line) { ChunkGuard.isMalformed(before: $0) } == isMalformed)
  }

  @Test(
    "an error response states the reason in a line and closes the connection",
    arguments: MalformedRequest.allCases)
  func refusals(why: MalformedRequest) {
    let (response, text) = (why.response, "\(why.text)")
    #expect([400, 413, 414, 431, 505].contains(response.status) && response["Connection"] == "close")
    #expect(response["X-Content-Type-Options"] == "nosniff" && response["Content-Security-Policy"] != nil)
    #expect(text.hasSuffix("\n") && text.dropLast().allSatisfy { !$0.isNewline })
    let message = String(decoding: why.message(at: 784_111_777), as: UTF8.self)
    #expect(message.hasPrefix("HTTP/1.1 \(why.status) "))
    #expect(message.contains("\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: close\r\n"))
    #expect(message.contains("\r\nContent-Length: \(text.utf8.count)\r\n"))
    #expect(message.hasSuffix("\r\n\r\n\(text)"))
    #expect(String(decoding: why.message(at: 784_111_777, isHead: true), as: UTF8.self) + text == message)
  }
}

package import Files
import Foundation
import HTTPMessages
import TileStorage

/// One HTTP answer.
package struct Response: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: Body

  /// What follows the headers.
  package enum Body: Sendable {
    case bytes([UInt8])
    /// A part of a mapped file, which stays mapped until the answer is sent.
    case mapped(MappedFile, Range<Int>)
    /// That part of pieces of memory, sent from where they are.
    case gathered(GatheredBytes, Range<Int>)
    /// Not made yet: whoever sends the answer has it rendered first.
    case rendering(RenderJob)
    /// That part of it.
    case rendered(UnsentPicture, Range<Int>)
    /// Goes on until the listener leaves.
    case events(EventStream)
    /// Not known yet, headers and all: whoever sends the answer has it made first.
    case deferred(DeferredAnswer)
  }

  package init(_ status: Int, _ headers: [(name: String, value: String)], _ body: Body) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }

  package var byteCount: Int {
    switch body {
    case .bytes(let bytes): bytes.count
    case .mapped(_, let range): range.count
    case .gathered(_, let range), .rendered(_, let range): range.count
    case .rendering, .deferred, .events: 0
    }
  }

  /// The same answer with the bytes that were rendered for it.
  package func with(_ unsent: UnsentPicture) -> Response {
    Response(status, headers, .rendered(unsent, 0..<unsent.picture.bytes.count))
  }

  package func header(_ name: String) -> String? {
    headers.first { Self.isSame($0.name, name) }?.value
  }

  /// Names of headers are not case-sensitive (RFC 9110, section 5.1), and ASCII.
  private static func isSame(_ one: String, _ other: String) -> Bool {
    one.utf8.elementsEqual(other.utf8) { a, b in
      a == b || (a | 0x20 == b | 0x20 && (0x61...0x7a).contains(a | 0x20))
    }
  }

  /// Another request header that the answer depends on (RFC 9110, section 12.5.5).
  mutating func vary(by name: String) {
    guard let at = headers.firstIndex(where: { $0.name == "Vary" }) else {
      headers.append(("Vary", name))
      return
    }
    let isThere = headers[at].value.split(separator: ",").contains { $0.drop { $0 == " " } == name }
    if !isThere { headers[at].value += ", " + name }
  }

  package static let anyOrigin = (name: "Access-Control-Allow-Origin", value: "*")

  /// What every answer carries that says nothing else in its place: much of what is answered was written by
  /// strangers, and no browser must take it for a page, or run it as one. Let in is that
  /// by which browsers lay out a picture or XML that is opened by itself: inline styles of their own, a drawn arrow.
  package static let caution: [(name: String, value: String)] = [
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'"),
  ]

  static func text(_ status: Int, _ text: String) -> Response {
    Response(
      status, [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store"), anyOrigin],
      .bytes(Array((text + "\n").utf8)))
  }

  static func json(_ bytes: [UInt8], maxAge: Int = 10) -> Response {
    Response(
      200,
      [
        ("Content-Type", "application/json"), ("ETag", EntityTag(of: bytes).text),
        ("Cache-Control", "public, max-age=\(maxAge)"), anyOrigin,
      ], .bytes(bytes))
  }

  static func json(_ value: some Encodable) -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Only strings, numbers and lists of our own are encoded, which always succeeds.
    return json(Array(try! encoder.encode(value)))
  }

  /// `application/problem+json` (RFC 9457); what may go through later says when.
  static func problem(_ status: Int, _ title: String, _ detail: String) -> Response {
    struct Problem: Encodable {
      let type = "about:blank"
      let title: String
      let status: Int
      let detail: String
    }
    var response = json(Problem(title: title, status: status, detail: detail))
    response.status = status
    response.headers = [
      ("Content-Type", "application/problem+json"), ("Cache-Control", "no-store"), anyOrigin,
    ]
    // RFC 9110, section 10.2.3. A disk that is full is looked at as often as for uploads that wait for room.
    if let seconds = [503: 1, 507: 20][status] { response.headers.append(("Retry-After", "\(seconds)")) }
    return response
  }

  /// The same answer for whom it is given to alone: another one of the same state would say more.
  var forNow: Response {
    var answer = self
    answer.headers.removeAll { ["ETag", "Cache-Control"].contains($0.name) }
    answer.headers.append(("Cache-Control", "no-store"))
    return answer
  }

  /// To a read whose If-Match names another version.
  package static let preconditionFailed = text(412, "there is another version now")

  /// To a request beyond those that its client may have at a time.
  package static let tooManyRequests: Response = {
    var response = text(429, "too many requests of one address at a time")
    response.headers.append(("Retry-After", "1"))
    return response
  }()

  static let methodNotAllowed = methodNotAllowed(besides: [])

  /// - Parameter others: methods that are obeyed besides those that read.
  static func methodNotAllowed(besides others: [String]) -> Response {
    let all = ["GET", "HEAD", "OPTIONS"] + others
    var response = text(
      405, "only \(all.dropLast().joined(separator: ", ")) and \(all.last!) are answered here")
    response.headers.append(("Allow", all.joined(separator: ", ")))
    return response
  }

  /// To OPTIONS, the browsers' question before a request across origins included.
  static let options = Response(
    204,
    [
      ("Allow", "GET, HEAD, OPTIONS"), anyOrigin, ("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS"),
      ("Access-Control-Allow-Headers", "*"), ("Access-Control-Max-Age", "86400"),
    ], .bytes([]))
}

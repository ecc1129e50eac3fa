/// An HTTP response: a status, headers, and a body.
package struct Response: Sendable {
  package typealias Field = (name: String, value: String)

  package var status: Int
  package var headers: [Field]
  package var body: Body
  /// The reason of a 5xx, for the log.
  package var reason: String?
  /// Parts of the time that the response took.
  package var timings: [ResponseTiming] = []

  /// The content behind the headers.
  package enum Body: Sendable {
    case bytes([UInt8])
    /// The range of bytes that are sent from where they are.
    case gathered(ScatterGatherBody, Range<Int>)
    /// A stream that continues until the client disconnects.
    case stream(any BodyStream)
    /// The body of a 304 or of an answer to HEAD: no bytes. Its Content-Length is that of the answer to a GET without
    /// conditions.
    case lengthOnly(Int)
    /// No bytes, and an unknown Content-Length.
    case omitted
  }

  package init(_ status: Int, _ headers: [Field], _ body: Body) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Returns the response with a reason, which is logged and not sent.
  package func withReason(_ error: some CustomStringConvertible) -> Response {
    var answer = self
    answer.reason = (reason.map { $0 + ": " } ?? "") + error.description
    return answer
  }

  /// The length of the body in bytes; nil if it is unknown.
  package var length: Int? {
    switch body {
    case .bytes(let bytes): bytes.count
    case .gathered(_, let range): range.count
    case .stream, .lengthOnly, .omitted: nil
    }
  }

  /// The value of a header; nil if it is missing. Setting it leaves one header of the name.
  package subscript(name: String) -> String? {
    get { headers.first { Self.isSame($0.name, name) }?.value }
    set {
      guard let newValue else {
        headers.removeAll { Self.isSame($0.name, name) }
        return
      }
      guard let at = headers.firstIndex(where: { Self.isSame($0.name, name) }) else {
        headers.append((name, newValue))
        return
      }
      headers[at].value = newValue
    }
  }

  /// Whether two names of headers are equal: they are not case-sensitive (RFC 9110, section 5.1), and ASCII.
  private static func isSame(_ one: String, _ other: String) -> Bool {
    // Nearly all pairs of names differ in their length, which is cheap to compare.
    one.utf8.count == other.utf8.count
      && one.utf8.elementsEqual(other.utf8) { a, b in
        a == b || (a | 0x20 == b | 0x20 && (0x61...0x7a).contains(a | 0x20))
      }
  }

  /// Adds a request header on which the response depends to Vary (RFC 9110, section 12.5.5).
  package mutating func vary(by name: String) {
    guard let names = self["Vary"] else {
      self["Vary"] = name
      return
    }
    let isThere = names.split(separator: ",").contains { $0.drop { $0 == " " } == name }
    if !isThere { self["Vary"] = names + ", " + name }
  }

  /// The header that lets the pages of any site read the response (CORS).
  package static let anyOrigin: Field = ("Access-Control-Allow-Origin", "*")

  /// The header that lets pages of other sites read these headers, besides the few that CORS always allows.
  package static let exposedHeaders: Field = (
    "Access-Control-Expose-Headers",
    "Accept-Ranges, Allow, Content-Disposition, Content-Length, Content-Range, ETag, Link, Location, Retry-After, "
      + "Tus-Extension, Tus-Max-Size, Tus-Resumable, Tus-Version, Upload-Expires, Upload-Length, Upload-Metadata, "
      + "Upload-Offset"
  )

  /// The response with all its headers readable to pages of other sites, if they may read the response.
  package var exposed: Response {
    guard self[Self.anyOrigin.name] != nil else { return self }
    var answer = self
    answer[Self.exposedHeaders.name] = Self.exposedHeaders.value
    return answer
  }

  /// The headers of every response that does not set them itself. Much of the content is untrusted, and no browser must
  /// show it as a page or run it as one. Inline styles and the drawn arrow are allowed, because browsers use them to
  /// lay out a picture or XML that is opened by itself.
  package static let caution: [Field] = [
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'"),
  ]
}

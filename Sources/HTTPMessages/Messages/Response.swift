/// One HTTP response: a status, headers, and a body that is there.
package struct Response: Sendable {
  package typealias Field = (name: String, value: String)

  package var status: Int
  package var headers: [Field]
  package var body: Body
  /// Why it is a 5xx, for the log.
  package var reason: String?
  /// Parts of the time that the answer took.
  package var timings: [ResponseTiming] = []

  /// The content behind the headers.
  package enum Body: Sendable {
    case bytes([UInt8])
    /// That part of bytes that are sent from where they are.
    case gathered(GatheredBytes, Range<Int>)
    /// Goes on until the listener leaves.
    case stream(any BodyStream)
    /// Nothing follows a 304 or an answer to HEAD, whose Content-Length is that of the answer to a GET without
    /// conditions.
    case lengthOnly(Int)
    /// The same if that length is unknown.
    case omitted
  }

  package init(_ status: Int, _ headers: [Field], _ body: Body) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The same answer with a reason, which is logged and not sent.
  package func because(_ error: some CustomStringConvertible) -> Response {
    var answer = self
    answer.reason = (reason.map { $0 + ": " } ?? "") + error.description
    return answer
  }

  /// A body's length, in bytes; nil where nobody knows it.
  package var length: Int? {
    switch body {
    case .bytes(let bytes): bytes.count
    case .gathered(_, let range): range.count
    case .stream, .lengthOnly, .omitted: nil
    }
  }

  /// A header's value, nil where there is none; set, it is there once.
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

  /// Names of headers are not case-sensitive (RFC 9110, section 5.1), and ASCII.
  private static func isSame(_ one: String, _ other: String) -> Bool {
    // Nearly all pairs of names differ in their length, which is known.
    one.utf8.count == other.utf8.count
      && one.utf8.elementsEqual(other.utf8) { a, b in
        a == b || (a | 0x20 == b | 0x20 && (0x61...0x7a).contains(a | 0x20))
      }
  }

  /// Another request header that the answer depends on (RFC 9110, section 12.5.5).
  package mutating func vary(by name: String) {
    guard let names = self["Vary"] else {
      self["Vary"] = name
      return
    }
    let isThere = names.split(separator: ",").contains { $0.drop { $0 == " " } == name }
    if !isThere { self["Vary"] = names + ", " + name }
  }

  /// Any site's page may read the answer (CORS).
  package static let anyOrigin: Field = ("Access-Control-Allow-Origin", "*")

  /// The headers that pages of other sites may read besides the few that CORS lets them read anyway.
  package static let exposedHeaders: Field = (
    "Access-Control-Expose-Headers",
    "Accept-Ranges, Allow, Content-Disposition, Content-Length, Content-Range, ETag, Link, Location, Retry-After, "
      + "Tus-Extension, Tus-Max-Size, Tus-Resumable, Tus-Version, Upload-Expires, Upload-Length, Upload-Metadata, "
      + "Upload-Offset"
  )

  /// The same answer, all of whose headers pages of other sites may read if they may read the answer.
  package var exposed: Response {
    guard self[Self.anyOrigin.name] != nil else { return self }
    var answer = self
    answer[Self.exposedHeaders.name] = Self.exposedHeaders.value
    return answer
  }

  /// The headers of every answer that does not set them itself. Much of the content is untrusted, and no browser must
  /// take it for a page or run it as one. Allowed are the inline styles and the drawn arrow with which browsers lay out
  /// a picture or XML that is opened by itself.
  package static let caution: [Field] = [
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'"),
  ]
}

/// Lets in who has the key that the server printed when it started; for a library that is nobody else's
/// business, on a machine with other users and a browser with other pages.
///
/// The printed address carries the key; the first answer turns it into a cookie that no script reads and no
/// other site's page sends.
public struct Gate: Sendable {
  private let key: String
  private let digest: SecretDigest
  private let cookieName: String
  private let cookieBytes: [UInt8]

  /// With a key of its own, for this run of the server.
  public init() {
    // The system's generator is the kernel's.
    func random() -> String { String(UInt64.random(in: (1 << 60)...(.max)), radix: 16) }
    key = random() + random()
    digest = SecretDigest(key.utf8)
    // Browsers do not tell the ports of a machine apart: each server has a cookie of another name.
    cookieName = "ziggurat-\(random().prefix(8))"
    cookieBytes = Array(cookieName.utf8)
  }

  /// What the server prints behind its address.
  public var query: String { "?key=\(key)" }

  /// - Parameter cookies: the Cookie header.
  public func admits(cookies: String?) -> Bool {
    guard var cookies else { return false }
    return cookies.withUTF8 { admits(cookies: $0) }
  }

  public func admits(cookies: UnsafeBufferPointer<UInt8>) -> Bool {
    CookieHeader(cookies).value(cookieBytes).map { SecretDigest($0) } == digest
  }

  /// To a request without the cookie: with the key in its query, the cookie and the way to the page;
  /// else a refusal, the same for every path.
  func answer(_ request: Request, base: String) -> Response {
    let given = request.rawQuery.first { $0.name.elementsEqual("key".utf8) }?.value
    guard let given, SecretDigest(given) == digest else { return Self.refusal }
    return Response(
      303,
      [
        ("Location", base + "/"),
        ("Set-Cookie", "\(cookieName)=\(key); HttpOnly; SameSite=Strict; Path=/"),
        ("Referrer-Policy", "no-referrer"),
      ], .bytes([]))
  }

  private static let refusal = Response.text(403, "open the address that the server printed when it started")
}

extension Response {
  /// The same answer, kept by no cache and read by no other site's page.
  public var madePrivate: Response {
    var answer = self
    answer.headers.removeAll { header in
      let name = header.name.lowercased()
      return ["cache-control", "etag"].contains(name) || name.hasPrefix("access-control-")
    }
    answer.headers += [
      ("Cache-Control", "private, no-store"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    return answer
  }
}

import Glibc
import ZigguratHTTPMessages

/// Lets in who has the key that the server printed when it started; for a library that is nobody else's
/// business, on a machine with other users and a browser with other pages.
///
/// The printed address carries the key; the first answer turns it into a cookie that no script reads and no
/// other site's page sends.
package struct Gate: Sendable {
  private let key: String
  private let digest: SecretDigest
  private let cookie: SessionCookie

  /// With a key of its own, for this run of the server.
  /// - Parameter isSecure: browsers reach the server by TLS alone.
  package init(isSecure: Bool = false) {
    // The system's generator is the kernel's.
    func random() -> String { String(UInt64.random(in: (1 << 60)...(.max)), radix: 16) }
    key = random() + random()
    digest = SecretDigest(key.utf8)
    // Browsers do not tell the ports of a machine apart: each server has a cookie of another name.
    cookie = SessionCookie(isSecure: isSecure, name: "ziggurat-\(random().prefix(8))")
  }

  /// The query that the server prints after its address.
  package var query: String { "?key=\(key)" }

  /// - Parameter cookies: the Cookie header.
  func admits(cookies: String?) -> Bool {
    guard var cookies else { return false }
    return cookies.withUTF8 { admits(cookies: $0) }
  }

  /// - Parameter cookies: the Cookie header, as sent.
  func admits(_ cookies: UnsafePointer<CChar>?) -> Bool {
    guard let cookies else { return false }
    let bytes = UnsafeRawPointer(cookies).assumingMemoryBound(to: UInt8.self)
    return admits(cookies: UnsafeBufferPointer(start: bytes, count: strlen(cookies)))
  }

  private func admits(cookies: UnsafeBufferPointer<UInt8>) -> Bool {
    cookie.id(in: cookies).map { SecretDigest($0) } == digest
  }

  func count(in cookies: UnsafeBufferPointer<UInt8>) -> Int { cookie.count(in: cookies) }

  /// To a request without the cookie: with the key in its query, the cookie and the way to the page;
  /// else a refusal, the same for every path.
  func answer(_ request: Request, base: String) -> Response {
    let given = request.parameters.first { $0.name.elementsEqual("key".utf8) }?.value
    guard let given, SecretDigest(given) == digest else { return Self.refusal }
    return Response(
      303,
      [
        ("Location", base + "/"),
        ("Set-Cookie", cookie.setting(key)),
        ("Referrer-Policy", "no-referrer"),
      ], .bytes([]))
  }

  private static let refusal = Response.text(403, "open the address that the server printed when it started")
}

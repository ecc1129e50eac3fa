import Glibc
import ZigguratHTTPMessages

/// Admits only clients with the key that the server printed when it started. It protects a private library on a machine
/// that has other users and a browser with other pages.
///
/// The printed address contains the key. The first response replaces it by a cookie that scripts cannot read and
/// that is not sent for requests from other sites.
package struct LaunchKeyAuth: Sendable {
  private let key: String
  private let digest: TokenHash
  private let cookie: SessionCookie

  /// Creates a random key for this run of the server.
  /// - Parameter isSecure: whether browsers reach the server only by TLS.
  package init(isSecure: Bool = false) {
    // The system's generator is that of the kernel.
    func random() -> String { String(UInt64.random(in: (1 << 60)...(.max)), radix: 16) }
    key = random() + random()
    digest = TokenHash(key.utf8)
    // Cookies do not distinguish ports of a host, so each server uses another cookie name.
    cookie = SessionCookie(isSecure: isSecure, name: "ziggurat-\(random().prefix(8))")
  }

  /// The query that the server prints after its address.
  package var query: String { "?key=\(key)" }

  /// - Parameter cookies: the value of the `Cookie` header.
  func admits(cookies: String?) -> Bool {
    guard var cookies else { return false }
    return cookies.withUTF8 { admits(cookies: $0) }
  }

  /// - Parameter cookies: the value of the `Cookie` header, as sent.
  func admits(_ cookies: UnsafePointer<CChar>?) -> Bool {
    guard let cookies else { return false }
    let bytes = UnsafeRawPointer(cookies).assumingMemoryBound(to: UInt8.self)
    return admits(cookies: UnsafeBufferPointer(start: bytes, count: strlen(cookies)))
  }

  private func admits(cookies: UnsafeBufferPointer<UInt8>) -> Bool {
    cookie.id(in: cookies).map { TokenHash($0) } == digest
  }

  func count(in cookies: UnsafeBufferPointer<UInt8>) -> Int { cookie.count(in: cookies) }

  /// Returns the response to a request without the cookie. If the query contains the key, the response sets the
  /// cookie and redirects to the page. Otherwise it is a refusal, which is the same for every path.
  func answer(_ request: Request, base: String) -> Response {
    let given = request.parameters.first { $0.name.elementsEqual("key".utf8) }?.value
    guard let given, TokenHash(given) == digest else { return Self.refusal }
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

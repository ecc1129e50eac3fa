import ZigguratHTTPMessages

/// The cookie that carries a session's id.
///
/// Over TLS its name begins with `__Host-` (RFC 6265bis, section 4.1.3.2): then nothing but this server, by TLS,
/// can have set it, neither a neighbour below the same domain nor who answers in its place without TLS.
struct SessionCookie: Sendable {
  let name: String
  private let nameBytes: [UInt8]
  private let attributes: String

  /// - Parameter isSecure: browsers reach the server by TLS alone.
  init(isSecure: Bool, name: String = "ziggurat-session") {
    self.name = (isSecure ? "__Host-" : "") + name
    nameBytes = Array(self.name.utf8)
    attributes = "; HttpOnly; SameSite=Strict; Path=/" + (isSecure ? "; Secure" : "")
  }

  /// - Parameter base: `--base-url`. Of several servers below one host each has a cookie of another name; a path of
  ///   its own would cost it `__Host-`.
  init(of base: String) {
    let place = BasePath(of: base).text.replacing(/[^A-Za-z0-9]+/, with: "-")
    self.init(isSecure: base.hasPrefix("https:"), name: "ziggurat-session" + place)
  }

  /// Returns the id in a `Cookie` header; nil if it has none or more than one.
  func id(in cookies: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
    CookieHeader(cookies).values(nameBytes).onlyOne
  }

  func count(in cookies: UnsafeBufferPointer<UInt8>) -> Int { CookieHeader(cookies).values(nameBytes).count }

  /// The `Set-Cookie` that gives the browser an id.
  func setting(_ id: String) -> String { "\(name)=\(id)" + attributes }

  /// The `Set-Cookie` that has the browser forget the id. With the same attributes: browsers heed none else of
  /// this name.
  var unsetting: String { "\(name)=" + attributes + "; Max-Age=0" }
}

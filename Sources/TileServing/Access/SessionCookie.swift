import ZigguratHTTPMessages

/// The cookie that carries a session's id.
///
/// Over TLS its name begins with `__Host-` (RFC 6265bis, section 4.1.3.2). Then only this server, over TLS, can
/// have set it. Neither another host of the same domain nor an impostor without TLS can.
struct SessionCookie: Sendable {
  let name: String
  private let nameBytes: [UInt8]
  private let attributes: String

  /// - Parameter isSecure: whether browsers reach the server only by TLS.
  init(isSecure: Bool, name: String = "ziggurat-session") {
    self.name = (isSecure ? "__Host-" : "") + name
    nameBytes = Array(self.name.utf8)
    attributes = "; HttpOnly; SameSite=Strict; Path=/" + (isSecure ? "; Secure" : "")
  }

  /// - Parameter base: `--base-url`. Several servers on one host use different cookie names. Different `Path`
  ///   attributes would rule out `__Host-`.
  init(of base: String) {
    let place = BasePath(of: base).text.replacing(/[^A-Za-z0-9]+/, with: "-")
    self.init(isSecure: base.hasPrefix("https:"), name: "ziggurat-session" + place)
  }

  /// Returns the id in a `Cookie` header; `nil` if there is none or more than one.
  func id(in cookies: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
    CookieHeader(cookies).values(nameBytes).onlyOne
  }

  func count(in cookies: UnsafeBufferPointer<UInt8>) -> Int { CookieHeader(cookies).values(nameBytes).count }

  /// Returns the `Set-Cookie` value that sets the id.
  func setting(_ id: String) -> String { "\(name)=\(id)" + attributes }

  /// The `Set-Cookie` value that deletes the id. It needs the same attributes, because browsers ignore others for
  /// this name.
  var unsetting: String { "\(name)=" + attributes + "; Max-Age=0" }
}

import Testing

@testable import ZigguratTileServing

@Suite struct SessionCookieTests {
  @Test(arguments: [
    ("ziggurat-session=abc", "abc"), ("a=1; ziggurat-session=abc; b=2", "abc"),
    ("ziggurat-session=abc; ziggurat-session=def", nil), ("ziggurat-session=", ""),
    ("ziggurat-session=abc;ziggurat-session=abc", nil), ("__Host-ziggurat-session=abc", nil),
    ("ziggurat-sessions=abc", nil), ("x=ziggurat-session=abc", nil), ("ziggurat-session", nil), ("", nil),
  ])
  func `the id is read from the cookies`(_ cookies: String, _ id: String?) {
    var cookies = cookies
    let cookie = SessionCookie(isSecure: false)
    let found = cookies.withUTF8 { cookie.id(in: $0).map { String(decoding: $0, as: UTF8.self) } }
    #expect(found == id)
  }

  @Test func `over TLS, the cookie is restricted to this host`() {
    let cookie = SessionCookie(isSecure: true)
    // Browsers drop a cookie of this name without any of these, the one that ends it too.
    for text in [cookie.setting("abc"), cookie.unsetting] {
      let parts = text.split(separator: ";").map { $0.drop { $0 == " " } }
      #expect(parts[0].hasPrefix("__Host-ziggurat-session="))
      for attribute in ["Secure", "HttpOnly", "SameSite=Strict", "Path=/"] {
        #expect(parts.contains { $0 == attribute })
      }
      #expect(!text.contains("Domain"))
    }
    var cookies = "ziggurat-session=theirs; __Host-ziggurat-session=ours"
    let found = cookies.withUTF8 { cookie.id(in: $0).map { String(decoding: $0, as: UTF8.self) } }
    #expect(found == "ours")
    #expect(!SessionCookie(isSecure: false).setting("abc").contains("Secure"))
  }
}

import Testing

@testable import ZigguratTileServing

@Suite struct AllowedOriginsTests {
  @Test func `only listed origins are allowed`() throws {
    let origins = try #require(AllowedOrigins("https://A.example, http://b.example:8080"))
    for origin in ["https://a.example", "HTTPS://A.example", "http://b.example:8080"] {
      #expect(origins.names(origin))
    }
    for origin in [
      "http://a.example", "https://a.example:8443", "https://a.example.evil.example",
      "https://evil-a.example", "null",
      "", "https://a.example/", "http://b.example",
    ] { #expect(!origins.names(origin), "\(origin)") }
    #expect(AllowedOrigins("none") == .listed([]))
    #expect(AllowedOrigins("*") == .any)
    #expect(!AllowedOrigins.any.names("https://a.example"), "for writing it would have to be named")
  }

  @Test(arguments: [
    "", "a.example", "https://", "https://a.example/", "https://a.example/path", "https://a.example,",
    "*,https://a.example",
    "null", "ftp://a.example", "https://user@a.example", "https://*.a.example", "none,https://a.example",
  ])
  func `other texts are no lists of origins`(text: String) { #expect(AllowedOrigins(text) == nil, "\(text)") }
}

import Testing

@testable import ZigguratTileServing

@Suite("Paths below --base-url")
struct BasePathTests {
  private func removed(_ path: String, below url: String) -> String {
    let base = BasePath(of: url)
    return Array(path.utf8).withUnsafeBytes { String(decoding: base.removed(from: $0), as: UTF8.self) }
  }

  @Test(
    "paths are answered with the base and without it",
    arguments: [
      ("/images/dzi/a.dzi", "/dzi/a.dzi"), ("/dzi/a.dzi", "/dzi/a.dzi"), ("/images/", "/"),
      ("/images", "/images"), ("/imagesque/a", "/imagesque/a"), ("/images/images/a", "/images/a"),
      ("/images/healthz", "/healthz"), ("/images/metrics", "/images/metrics"),
      ("/images/%6Detrics", "/images/%6Detrics"), ("/", "/"),
    ])
  func removal(path: String, expected: String) {
    for url in ["https://example.org/images", "https://example.org/images/"] {
      #expect(removed(path, below: url) == expected)
    }
    for url in ["", "https://example.org", "https://example.org/"] {
      #expect(removed(path, below: url) == path)
    }
  }

  @Test(
    "a base may equal one of the server's own paths",
    arguments: [
      ("/iiif/iiif/3/a/info.json", "/iiif/3/a/info.json"), ("/iiif/3/a/info.json", "/iiif/3/a/info.json"),
      ("/iiif/view/a", "/view/a"), ("/iiif/theme.css", "/theme.css"), ("/iiif/", "/"),
      ("/iiif/presentation/3/collection", "/iiif/presentation/3/collection"),
    ])
  func ambiguity(path: String, expected: String) {
    #expect(removed(path, below: "https://example.org/iiif") == expected)
  }

  @Test("a base has only unreserved characters")
  func characters() {
    for (url, isPlain) in [
      ("https://a/b/c-d_e~f.g/%C3%BC", true), ("https://a", true), ("https://a/", true),
      ("https://a/b c", false),
      ("https://a/b//c", false), ("https://a/../b", false), ("https://a/\"b", false),
      ("https://a/b&c", false),
    ] {
      #expect(BasePath(of: url).isPlain == isPlain)
    }
  }

  @Test("each base has its own session cookie")
  func cookies() {
    #expect(SessionCookie(of: "https://a/b/c").name == "__Host-ziggurat-session-b-c")
    #expect(SessionCookie(of: "https://a").name == "__Host-ziggurat-session")
    #expect(SessionCookie(of: "").name == "ziggurat-session")
  }

  @Test("the base is prepended to the paths in a page")
  func pages() {
    let page = Array("<a href=\"/\"><img src=\"/icon.svg\"><a href=\"b\">".utf8)
    let below = BasePath(of: "https://a/b").put(inFrontOfPathsIn: page)
    #expect(
      String(decoding: below, as: UTF8.self) == "<a href=\"/b/\"><img src=\"/b/icon.svg\"><a href=\"b\">")
    #expect(BasePath(of: "").put(inFrontOfPathsIn: page) == page)
  }
}

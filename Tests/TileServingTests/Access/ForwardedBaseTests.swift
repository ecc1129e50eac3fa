import Testing
import ZigguratHTTPMessages

@testable import ZigguratTileServing

/// The public address of the server in the headers of proxies (RFC 7239, and the headers before it).
struct ForwardedBaseTests {
  private static let proxies = TrustedProxies("10.0.0.0/8,::1")!

  private static func base(_ headers: [String: String]) -> String? {
    ForwardedBase({ headers[$0] }, proxies)?.text
  }

  @Test(
    "the base is the address of the outermost trusted proxy",
    arguments: [
      ("host=a.example;proto=https", "https://a.example"),
      ("HOST=a.example;Proto=HTTPS", "https://a.example"),
      ("for=192.0.2.60;proto=http;by=203.0.113.43;host=a.example", "http://a.example"),
      ("host=\"a.example:8443\" ; proto=https", "https://a.example:8443"),
      ("host=a.example:80", "http://a.example:80"),
      ("for=\"[2001:db8:cafe::17]:4711\";host=\"[2001:db8::1]\"", "http://[2001:db8::1]"),
      ("proto=https", "https://own"),
      ("host=\"a\\.example\"", "http://a.example"),
      // The last proxy wrote the last element. Whom it saw wrote the one before, which counts if it is trusted, too.
      ("host=spoofed.example, for=192.0.2.1;host=a.example", "http://a.example"),
      ("host=spoofed.example, host=a.example;proto=https, for=10.1.2.3;host=inner", "https://a.example"),
      ("host=spoofed.example, for=192.0.2.1;host=a.example, for=\"[::1]:80\";host=inner", "http://a.example"),
      ("host=a.example, for=_hidden;host=b.example", "http://b.example"),
    ])
  func forwarded(header: String, expected: String) {
    #expect(Self.base(["Forwarded": header, "Host": "own", "X-Forwarded-Host": "other.example"]) == expected)
  }

  @Test(
    "malformed headers and other texts are ignored",
    arguments: [
      "", "host", "host=", "=a", "host=a b", "host=\"a", "host=\"a\\", "host=a;", "host=a,", ",host=a",
      "host=a;host=b",
      "host=a/b", "host=a@b", "host=\"a b\"", "proto=ftp", "proto=javascript;host=a", "host=\"<a>\"",
      "host=ä",
      String(repeating: "host=a,", count: 40) + "host=a", "host=" + String(repeating: "a", count: 5000),
    ])
  func malformed(header: String) { #expect(Self.base(["Forwarded": header, "Host": "own"]) == nil) }

  @Test("the last value of each older header counts")
  func older() {
    #expect(Self.base(["X-Forwarded-Host": "a.example", "Host": "own"]) == "http://a.example")
    #expect(Self.base(["X-Forwarded-Proto": "https", "Host": "own:8080"]) == "https://own:8080")
    #expect(
      Self.base(["X-Forwarded-Host": "x.example, a.example", "X-Forwarded-Proto": "http, https"])
        == "https://a.example")
    #expect(
      Self.base(["X-Forwarded-Prefix": "/images/", "X-Forwarded-Host": "a.example"])
        == "http://a.example/images")
    #expect(
      Self.base(["Forwarded": "host=a.example;proto=https", "X-Forwarded-Prefix": "/b/c"])
        == "https://a.example/b/c")
    #expect(Self.base(["X-Forwarded-Prefix": "/", "Host": "own"]) == "http://own")
    for headers in [
      [:], ["Host": "own"], ["X-Forwarded-Host": "a/b"], ["X-Forwarded-Proto": "ftp", "Host": "own"],
      ["X-Forwarded-Prefix": "images", "Host": "own"], ["X-Forwarded-Prefix": "/a/../b", "Host": "own"],
      ["X-Forwarded-Prefix": "/\"><script>", "Host": "own"],
      ["X-Forwarded-Prefix": "//evil.example", "Host": "own"],
      ["X-Forwarded-Host": String(repeating: "a", count: 5000)], ["X-Forwarded-Proto": "https"],
      ["X-Forwarded-Prefix": "/" + String(repeating: "a", count: 300), "Host": "own"],
    ] { #expect(Self.base(headers) == nil, "\(headers)") }
  }
}

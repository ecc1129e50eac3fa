import Testing
import ZigguratHTTPMessages

@testable import ZigguratImageLibrary
@testable import ZigguratTileServing

@Suite struct PrincipalTests {
  @Test func `a principal may do what its rights allow`() throws {
    var session = Session()
    session.hasToken = true
    #expect(!Principal(session, isWritable: false).mayWrite)
    #expect(Principal(session, isWritable: true).mayWrite)
    #expect(!Principal(session, isWritable: true).mayWriteToSpace)
    session = Session()
    session.space = try SpaceLibrary(SessionTableTests.FixedSpace("a"))
    #expect(!Principal(session, isWritable: true).mayWrite)
    #expect(Principal(session, isWritable: true).mayWriteToSpace)
    #expect(!Principal(session, isWritable: false).mayWriteToSpace)
  }

  @Test(arguments: [
    (["Sec-Fetch-Site": "same-origin"], nil), (["Sec-Fetch-Site": "same-site"], 403),
    (["Sec-Fetch-Site": "cross-site"], 403), (["Sec-Fetch-Site": "none"], 403), ([:], 403),
    (["Origin": "http://example.org:80"], nil), (["Origin": "HTTP://EXAMPLE.org:80"], nil),
    (["Origin": "https://example.org:80"], 403),
    (["Origin": "https://example.org:80", "X-Forwarded-Proto": "https"], nil),
    (["Origin": "http://example.org:80", "X-Forwarded-Proto": "https"], 403),
    (["Origin": "http://example.org"], 403), (["Origin": "http://example.org:80.evil.net"], 403),
    (["Origin": "null"], 403), (["Origin": "http://evil.net"], 403),
    (["Origin": "http://example.org:80", "Sec-Fetch-Site": "cross-site"], 403),
  ])
  func `a cookie alone permits no change`(_ headers: [String: String], _ status: Int?) {
    var session = Session()
    session.hasToken = true
    let request = SessionTableTests.request("x", headers.merging(["Host": "example.org:80"]) { a, _ in a })
    let principal = Principal(session, isWritable: true)
    #expect(principal.refusal(toChange: .library, request)?.status == status)
    #expect(Principal(mayWrite: true).refusal(toChange: .library, request) == nil, "a Bearer needs neither")
  }

  @Test func `an Origin has the scheme of the base URL`() {
    var session = Session()
    session.hasToken = true
    for (base, own, other) in [
      ("https://example.org/pictures", "https", "http"), ("HTTP://example.org", "http", "https"),
    ] {
      let principal = Principal(session, isWritable: true, OwnScheme(base: base))
      func status(_ scheme: String) -> Int? {
        let headers = [
          "Host": "example.org", "Origin": "\(scheme)://example.org", "X-Forwarded-Proto": other,
        ]
        return principal.refusal(toChange: .library, SessionTableTests.request("x", headers))?.status
      }
      #expect(status(own) == nil)
      #expect(status(other) == 403)
    }
  }

  @Test func `a principal without the right gets an error`() {
    let request = SessionTableTests.request(nil)
    #expect(Principal.anyone.refusal(toChange: .library, request)?.status == 401)
    #expect(Principal.anyone.refusal(toChange: .space, request)?["WWW-Authenticate"] == "Bearer")
    #expect(Principal(Session(), isWritable: true).refusal(toChange: .library, request)?.status == 403)
  }
}

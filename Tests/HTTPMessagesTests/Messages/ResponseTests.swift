import Testing
import ZigguratHTTPMessages

@Suite struct ResponseTests {
  @Test func `Vary names each header once, in one line`() {
    var response = Response(200, [], .bytes([]))
    for name in ["Accept-Encoding", "Cookie", "Accept-Encoding", "Origin", "Cookie", "Accept"] {
      response.vary(by: name)
    }
    #expect(response.headers.count == 1)
    #expect(response["Vary"] == "Accept-Encoding, Cookie, Origin, Accept")
  }
}

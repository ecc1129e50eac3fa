import Testing
import ZigguratTileServing

@Suite struct LoggedRefererTests {
  @Test(
    arguments: [
      ("https://example.org/page", "https://example.org/page"),
      ("https://example.org", "https://example.org"),
      ("https://example.org/a?q=name#part", "https://example.org/a?*"),
      ("https://example.org/a#part", "https://example.org/a"),
      ("https://example.org?token=x", "https://example.org?*"),
      ("https://user:secret@example.org:8443/a", "https://example.org:8443/a"),
      ("https://a@b@example.org/@c", "https://example.org/@c"),
      ("https://example.org/view/~/deed", "https://example.org/view/~"),
      ("https://example.org/view/%7E%2Fdeed?x", "https://example.org/view/~"),
      ("https://example.org/view/~deed", "https://example.org/view/~deed"),
      ("/view/~/deed", "/view/~"), ("about:blank", "about:blank"), ("", ""), ("?x", "?*"), ("//", "//"),
      ("://", "://"),
      ("https://", "https://"), ("https:/", "https:/"),
    ])
  func `a referer is logged without secrets`(_ sent: String, _ logged: String) {
    var sent = sent
    let text = sent.withUTF8 { LoggedReferer(UnsafeRawBufferPointer($0)).text }
    #expect(text == logged)
  }
}

import Testing

@testable import ZigguratTileServing

@Suite struct FrameAncestorsTests {
  @Test(arguments: [
    ("self", "'self'"), ("none", "'none'"), ("*", "*"), ("https://a.example", "https://a.example"),
    ("self, https://*.A.example:8443,http://b.example", "'self' https://*.a.example:8443 http://b.example"),
  ])
  func `the policy lists the allowed frame ancestors`(text: String, policy: String) {
    #expect(FrameAncestors(text)?.policy == policy)
  }

  @Test(arguments: [
    "", ",", "'self'", "self,none", "*,self", "a.example", "https://a.example; script-src *",
    "https://a.example/x", "https://",
    "https://*", "https://*.*.example", "data:", "https://a example/",
  ])
  func `other texts are no lists of sites`(text: String) { #expect(FrameAncestors(text) == nil, "\(text)") }
}

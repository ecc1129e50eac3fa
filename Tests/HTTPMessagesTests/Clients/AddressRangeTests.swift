import Testing

@testable import ZigguratHTTPMessages

@Suite struct AddressRangeTests {
  @Test(arguments: [
    ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "11.0.0.0", false),
    ("10.0.0.0/8", "::ffff:10.1.2.3", true),
    ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.8", false), ("0.0.0.0/0", "203.0.113.1", true),
    ("0.0.0.0/0", "::1", false), ("::/0", "::1", true), ("::/0", "192.0.2.7", true),
    ("192.0.2.6/31", "192.0.2.7", true),
    ("192.0.2.6/31", "192.0.2.8", false), ("2001:db8::/32", "2001:db8:ffff::1", true),
    ("2001:db8::/32", "2001:db9::1", false), ("2001:db8:1:2::/64", "2001:db8:1:2:3::", true),
    ("2001:db8:1:2::/65", "2001:db8:1:2:8000::", false), ("::ffff:0:0/96", "192.0.2.7", true),
    ("::1/128", "::1", true),
  ])
  func `a range contains the addresses with its prefix`(range: String, address: String, isIn: Bool) throws {
    #expect(try #require(AddressRange(range)).contains(try #require(IPAddress(address))) == isIn)
  }

  @Test(arguments: [
    "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.1.0.0/8",
    "10.0.0.0/255.0.0.0",
    "2001:db8::/129", "2001:db8::1/32", "::/0000", "10/8", "example.org",
  ])
  func `other texts are no ranges`(text: String) { #expect(AddressRange(text) == nil) }
}

import Testing
import ZigguratHTTPMessages

@testable import ZigguratTileServing

@Suite struct TrustedProxiesTests {
  private static let proxies = TrustedProxies("10.0.0.0/8,2001:db8:ffff::/48,unix")!

  @Test(arguments: [
    // Nobody else's word counts.
    ("203.0.113.1", "198.51.100.1", "203.0.113.1"), ("203.0.113.1", nil, "203.0.113.1"),
    ("127.0.0.1", "198.51.100.1", "127.0.0.1"),
    // What stands before the address that a proxy saw is the client's own word.
    ("10.0.0.1", "198.51.100.1", "198.51.100.1"), ("10.0.0.1", "192.0.2.1, 198.51.100.1", "198.51.100.1"),
    ("10.0.0.1", "10.0.0.9, 198.51.100.1", "198.51.100.1"),
    ("10.0.0.1", "198.51.100.1, 10.0.0.2", "198.51.100.1"),
    ("10.0.0.1", "192.0.2.1,198.51.100.1,2001:db8:ffff::2 , 10.0.0.2", "198.51.100.1"),
    // A proxy that is asked for itself.
    ("10.0.0.1", nil, "10.0.0.1"), ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
    // What is no address ends the row: the last that is known counts.
    ("10.0.0.1", "", "10.0.0.1"), ("10.0.0.1", "unknown", "10.0.0.1"),
    ("10.0.0.1", "198.51.100.1, unknown", "10.0.0.1"),
    ("10.0.0.1", "198.51.100.1, _x, 10.0.0.2", "10.0.0.2"), ("10.0.0.1", "198.51.100.1,", "10.0.0.1"),
    ("10.0.0.1", "198.51.100.1:4711", "198.51.100.1"), ("10.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"),
    ("10.0.0.1", "2001:db8::1", "2001:db8::1"), ("2001:db8:ffff::9", "::ffff:198.51.100.1", "198.51.100.1"),
    // Over a socket of this machine's.
    (nil, "198.51.100.1", "198.51.100.1"), (nil, nil, nil), (nil, "x", nil),
  ])
  func `the header is read from its end while its writers are trusted`(
    peer: String?, forwarded: String?, origin: String?
  ) {
    let found = self.origin(Self.proxies, peer, forwarded)
    #expect(found?.description == origin)
  }

  private func origin(_ proxies: TrustedProxies, _ peer: String?, _ forwarded: String?) -> IPAddress? {
    let bytes = Array((forwarded ?? "").utf8)
    return bytes.withUnsafeBufferPointer { proxies.origin(peer.flatMap { IPAddress($0) }, forwarded: $0) }
  }

  @Test func `without trusted proxies, the header is ignored`() {
    for peer in ["127.0.0.1", "10.0.0.1", "::1"] {
      #expect(origin(.none, peer, "198.51.100.1")?.description == peer)
    }
    #expect(origin(.none, nil, "198.51.100.1") == nil)
    #expect(TrustedProxies("none")?.trusts(nil) == false)
    #expect(TrustedProxies.local.trusts(IPAddress("127.1.2.3")))
    #expect(TrustedProxies.local.trusts(IPAddress("::1")))
    #expect(!TrustedProxies.local.trusts(IPAddress("10.0.0.1")))
  }

  @Test(arguments: [
    "", ",", "10.0.0.0/8,", "10.0.0.0/8,none", "10.0.0.0/8;::1", "Unix", "all", "10.0.0.1/8", "proxy.example",
  ])
  func `other texts are no lists of proxies`(text: String) { #expect(TrustedProxies(text) == nil) }

  @Test func `blanks between items are ignored`() {
    #expect(TrustedProxies("10.0.0.0/8, ::1, unix")?.trusts(IPAddress("::1")) == true)
  }
}

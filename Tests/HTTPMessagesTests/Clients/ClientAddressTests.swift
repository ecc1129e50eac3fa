import Testing
import ZigguratHTTPMessages

struct ClientAddressTests {
  @Test(
    "an IPv4 address is one client in any notation",
    arguments: ["192.0.2.7", "::ffff:192.0.2.7", "::ffff:c000:207"])
  func ipv4(_ text: String) {
    #expect(ClientAddress(text) == .ipv4(0xc000_0207))
  }

  @Test("an IPv6 network of 64 bits is one client")
  func ipv6() {
    #expect(ClientAddress("2001:db8:1:2::1") == .ipv6(network: 0x2001_0db8_0001_0002))
    #expect(ClientAddress("2001:db8:1:2::1") == ClientAddress("2001:db8:1:2:ffff::9"))
    #expect(ClientAddress("2001:db8:1:2::1") != ClientAddress("2001:db8:1:3::1"))
    #expect(ClientAddress("::1") == .ipv6(network: 0))
  }

  @Test("a client without an address is unknown")
  func others() {
    #expect(ClientAddress(nil) == .unknown)
    #expect(ClientAddress("::") != .unknown)
  }
}

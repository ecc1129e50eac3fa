import Glibc
import Testing

@testable import ZigguratHTTPMessages

@Suite struct IPAddressTests {
  @Test(arguments: [
    ("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("::ffff:c000:207", "192.0.2.7"),
    ("255.255.255.255", "255.255.255.255"), ("2001:DB8:0:0::7", "2001:db8::7"), ("::1", "::1"), ("::", "::"),
    ("::192.0.2.7", "::192.0.2.7"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
  ])
  func `an address has one canonical form`(text: String, canonical: String) throws {
    let address = try #require(IPAddress(text))
    #expect(address.description == canonical)
    #expect(IPAddress(canonical) == address)
  }

  @Test(arguments: [
    "", "-", "localhost", "192.0.2", "192.0.2.256", "192.0.2.7:80", "0x7f.1", "127.1", "[::1]",
    "fe80::1%eth0",
    " ::1", "::1\0", "::1::2", "12345::", "1.2.3.4.5", String(repeating: "0:", count: 40),
  ])
  func `other texts are no addresses`(text: String) { #expect(IPAddress(text) == nil) }

  @Test(arguments: [
    ("192.0.2.7", "192.0.2.7"), ("192.0.2.7:80", "192.0.2.7"), ("192.0.2.7:65535", "192.0.2.7"),
    ("[2001:db8::7]", "2001:db8::7"), ("[2001:db8::7]:443", "2001:db8::7"), ("2001:db8::7", "2001:db8::7"),
    ("192.0.2.7:", nil), ("192.0.2.7:x", nil), ("192.0.2.7:123456", nil), ("[192.0.2.7]:80", nil),
    ("[::1", nil),
    ("[::1]80", nil), ("[]", nil), ("unknown", nil), ("_hidden", nil), (":80", nil), ("", nil),
  ])
  func `an address from a proxy may have a port`(text: String, address: String?) {
    let found = Array(text.utf8).withUnsafeBufferPointer { IPAddress(withPort: $0[...]) }
    #expect(found?.description == address)
  }

  @Test(arguments: ["127.0.0.2", "2001:db8::5"])
  func `a socket address equals its text form`(text: String) {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST
    var list: UnsafeMutablePointer<addrinfo>?
    #expect(getaddrinfo(text, "80", &hints, &list) == 0)
    defer { freeaddrinfo(list) }
    #expect(list.flatMap { IPAddress($0.pointee.ai_addr) } == IPAddress(text))
    var other = sockaddr()
    other.sa_family = sa_family_t(AF_UNIX)
    #expect(IPAddress(&other) == nil)
  }

  @Test(arguments: [
    ("127.0.0.1", true), ("10.255.0.1", true), ("172.15.0.1", false), ("172.16.0.1", true),
    ("172.31.0.1", true),
    ("172.32.0.1", false), ("192.168.7.7", true), ("192.169.0.1", false), ("169.254.1.1", true),
    ("100.64.0.1", true),
    ("100.128.0.1", false), ("8.8.8.8", false), ("::1", true), ("::2", false), ("fe80::1", true),
    ("febf::1", true),
    ("fec0::1", false), ("fd12::1", true), ("2001:db8::1", false), ("::ffff:10.0.0.1", true),
  ])
  func `addresses of private networks are private`(text: String, isPrivate: Bool) {
    #expect(IPAddress(text)?.isPrivate == isPrivate)
  }
}

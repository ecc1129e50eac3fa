import Testing
import ZigguratHTTPMessages

@testable import ZigguratTileServing

@Suite struct AllowedHostsTests {
  private static let names = AllowedHosts(own: ["127.0.0.1", "Images.Example.org.", "nas", "nas.local"])
  private static let machine = "127.0.0.1"
  private static let network = "192.168.7.7"
  private static let internet = "203.0.113.1"

  private func admits(_ names: AllowedHosts, _ host: String, at address: String?) -> Bool {
    Array(host.utf8).withUnsafeBufferPointer { names.admit($0, at: { address.flatMap { IPAddress($0) } }) }
  }

  @Test(arguments: [
    // What a page's own name cannot be, wherever it is asked.
    "127.0.0.1", "127.0.0.1:8080", "192.168.7.7:1", "203.0.113.9", "[::1]", "[::1]:8080", "[2001:db8::7]:80",
    "localhost", "LOCALHOST:8080", "localhost.", "a.localhost:80", " localhost\t",
    // What the server is called.
    "images.example.org", "IMAGES.example.ORG:443", "images.example.org.", "nas", "nas:8080", "nas.local", "",
    "  ",
  ])
  func `the server's own names and addresses are accepted from everywhere`(host: String) {
    for address in [Self.machine, Self.network, Self.internet, "::1", "fd00::1", nil] {
      #expect(admits(Self.names, host, at: address), "\(host) at \(address ?? "a socket")")
    }
  }

  @Test(arguments: [
    "evil.example", "evil.example:8080", "images.example.org.evil.example", "evil-images.example.org",
    "example.org",
    "localhost.evil.example", "127.0.0.1.evil.example", "1e100.example", "a.images.example.org",
    "[::1].evil.example",
    "127.0.0.1.nip.io", "0x7f.1", "%6cocalhost", "_", "xlocalhost.example",
  ])
  func `other names are rejected from the machine itself`(host: String) {
    for address in [Self.machine, "::1", "::ffff:127.0.0.1"] {
      #expect(!admits(Self.names, host, at: address))
    }
    for address in [Self.network, "10.0.0.1", "fd00::1", "fe80::1", "100.64.0.1"] where host.contains(".") {
      #expect(!admits(Self.names, host, at: address), "\(host) at \(address)")
    }
    // There he reads what everybody may.
    #expect(admits(Self.names, host, at: Self.internet))
    #expect(admits(Self.names, host, at: nil))
  }

  @Test(arguments: ["printer", "other.local", "a.home.arpa:80", "web.internal"])
  func `names of private networks are accepted from those networks only`(host: String) {
    #expect(admits(Self.names, host, at: Self.network))
    #expect(!admits(Self.names, host, at: Self.machine))
  }

  @Test func `more names can be allowed by name, by suffix, or all`() throws {
    let named = try #require(Self.names.adding("One.example, *.two.example,three"))
    for host in ["one.example", "ONE.example:80", "a.two.example", "a.b.two.example.", "three:8080", "nas"] {
      #expect(admits(named, host, at: Self.machine), "\(host)")
    }
    for host in ["a.one.example", "two.example", "atwo.example", "four"] {
      #expect(!admits(named, host, at: Self.machine), "\(host)")
    }
    let all = try #require(Self.names.adding("*"))
    #expect(admits(all, "evil.example", at: Self.machine))
  }

  @Test(arguments: [
    "", ",", "a,", "*.", "*.*", "a b", "http://a", "a:80", "a/b", "..", ".example.org", "a..b", "é", "[::1]",
    "**",
  ])
  func `other texts are no lists of names`(text: String) {
    #expect(Self.names.adding(text) == nil, "\(text)")
  }

  @Test func `an error response names the option that would help`() {
    let response = Array(" evil.example:80".utf8).withUnsafeBufferPointer { Response.unknownHost($0) }
    #expect(response.status == 421)
    #expect(response["Access-Control-Allow-Origin"] == nil)
    guard case .bytes(let bytes) = response.body else { return #expect(Bool(false)) }
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("'evil.example:80'") && text.contains("--allow-host") && text.hasSuffix("\n"))
  }
}

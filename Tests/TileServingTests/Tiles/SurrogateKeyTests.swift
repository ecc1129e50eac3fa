import Testing

@testable import ZigguratTileServing

@Suite struct SurrogateKeyTests {
  @Test func `the hash is SipHash-2-4`() {
    // The example of the paper (Aumasson, Bernstein 2012, appendix A): key 00 to 0f, input 00 to 0e, a129ca6149be45e5
    // as a number, here its bytes from the least one on.
    let words = Array(UInt8(0)...15).withUnsafeBytes { $0.load(as: (UInt64, UInt64).self) }
    let key = Array(UInt8(0)...14).withUnsafeBytes { SurrogateKey(of: $0, SurrogateKey.Seed(words: words)) }
    #expect(key.text == "e545be4961ca29a1")
  }

  @Test func `the key is 256 bits in lowercase hexadecimal, and nothing shorter`() {
    #expect(PurgeKey(String(repeating: "0a", count: 32)) != nil)
    for text in [
      "", "secret", String(repeating: "0A", count: 32), String(repeating: "a", count: 63),
      String(repeating: "a", count: 65), String(repeating: "g", count: 64), String(repeating: "ä", count: 32),
    ] {
      #expect(PurgeKey(text) == nil, "\(text)")
    }
    #expect(PurgeKey.make().text != PurgeKey.make().text)
    #expect(PurgeKey(PurgeKey.make().text) != nil)
  }

  @Test func `another key gives other surrogate keys for the same id`() {
    let (one, other) = (PurgeKey.make(), PurgeKey.make())
    #expect(SurrogateKey(of: "one", one.seed).text == SurrogateKey(of: "one", PurgeKey(one.text)!.seed).text)
    #expect(SurrogateKey(of: "one", one.seed).text != SurrogateKey(of: "one", other.seed).text)
  }
}

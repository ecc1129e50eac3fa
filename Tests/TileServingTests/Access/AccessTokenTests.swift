import Testing

@testable import ZigguratTileServing

@Suite struct AccessTokenTests {
  @Test func `a token is accepted only as Bearer`() {
    let (token, text) = AccessToken.make()
    for header in ["Bearer \(text)", "bearer \(text)"] { #expect(token.admits(authorization: header)) }
    for header in ["Bearer", "Bearer ", "Basic \(text)", text, "Bearer \(text)x", "Bearer  \(text)"] {
      #expect(!token.admits(authorization: header), "\(header)")
    }
    for bad in [
      "", "short", "with space and more", "täglich frisches Brot", String(repeating: "x", count: 257),
    ] {
      #expect(AccessToken(bad) == nil, "\(bad)")
    }
  }
}

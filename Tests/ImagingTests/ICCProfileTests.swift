import Testing

@testable import ZigguratImaging

/// Names and colour spaces of profiles, which are untrusted.
@Suite struct ICCProfileTests {
  private static let made = ColourProfile.bytes(
    white: (0.3127, 0.329), red: (0.64, 0.33), green: (0.3, 0.6), blue: (0.15, 0.06), curve: .standardRGB)

  @Test func `a profile has its colour space and name`() throws {
    let bytes = try #require(Self.made)
    let profile = try #require(ICCProfile(bytes))
    #expect(profile.colourSpace == "RGB ")
    #expect(profile.description?.isEmpty == false)
  }

  @Test func `a truncated profile is invalid or has no name`() throws {
    let bytes = try #require(Self.made)
    for count in 0..<bytes.count {
      let profile = ICCProfile(Array(bytes.prefix(count)))
      if count < 128 { #expect(profile == nil) }
      if let profile { #expect(profile.colourSpace == "RGB ") }
    }
  }

  @Test func `names of profiles have no control characters and a maximum length`() throws {
    var bytes = try #require(Self.made)
    // The text of the tag `desc`, UTF-16 of big-endian order.
    let name = Array("RGB".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] })
    let at = try #require(bytes.indices.first { bytes[$0...].starts(with: name) })
    bytes.replaceSubrange(at..<at + 6, with: [0, 0x1b, 0, 0x5b, 0, 0x41])
    #expect(ICCProfile(bytes)?.description?.hasPrefix("[A") == true)
  }
}

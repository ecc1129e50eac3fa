import ZigguratImaging

/// The statements of a PNG file's chunks about its colours (PNG, third edition, 11.3.2).
struct PNGColours {
  /// 100000 times the exponent of gAMA.
  var gamma: Int?
  /// 100000 times white, red, green and blue of cHRM, x and y each.
  var chromaticities: [Int]?
  /// The code points of cICP; nil if there are none.
  var codePoints: CICP?
  /// There is an sRGB chunk, which says more than gAMA and cHRM: those are for old readers.
  var isStandardRGB = false
  /// The same of a profile.
  var hasProfile = false

  private static let standardChromaticities = [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000]
  /// Writers round in their own ways.
  private static let rounding = 20

  /// gAMA or cHRM say other colours than sRGB's, and nothing stands above them.
  var areOthers: Bool {
    !isStandardRGB && !hasProfile
      && (gamma.map { abs($0 - 45455) > Self.rounding } ?? false
        || chromaticities.map { !Self.areStandard($0) } ?? false)
  }

  private static func areStandard(_ numbers: [Int]) -> Bool {
    numbers.count == 8 && zip(numbers, standardChromaticities).allSatisfy { abs($0 - $1) <= rounding }
  }

  /// The bytes of an ICC profile; nil if the colours are sRGB's, or make no sense.
  var profile: [UInt8]? {
    guard areOthers else { return nil }
    let numbers = chromaticities ?? Self.standardChromaticities
    guard numbers.count == 8, gamma != 0 else { return nil }
    let points = stride(from: 0, to: 8, by: 2).map {
      (x: Double(numbers[$0]) / 1e5, y: Double(numbers[$0 + 1]) / 1e5)
    }
    return ColourProfile.bytes(
      white: points[0], red: points[1], green: points[2], blue: points[3],
      curve: gamma.map { .power(1e5 / Double($0)) } ?? .standardRGB)
  }

  /// The names and values of the chunks, for reports; nil if the colours are sRGB's.
  var description: String? {
    guard areOthers else { return nil }
    let parts = [
      gamma.map { "gAMA (\(Double($0) / 1e5))" },
      chromaticities.map { "cHRM (\($0.map { "\($0)" }.joined(separator: " ")))" },
    ]
    return "its " + parts.compactMap { $0 }.joined(separator: " and ")
  }
}

import ZigguratCLCMS

/// Makes RGB ICC profiles from numbers that describe colours in other ways, such as PNG's cHRM and gAMA.
package enum ColourProfile {
  /// CIE xy chromaticity coordinates.
  package typealias Point = (x: Double, y: Double)

  /// The transfer function between a stored value and linear light.
  package enum Curve: Hashable, Sendable {
    /// Linear light is the value to this power.
    case power(Double)
    /// IEC 61966-2-1.
    case standardRGB
    /// The inverse of ITU-R BT.709-6, 1.2.
    case television
    /// ISO 22028-2, 4.4.2: a power of 1.8, linear near black.
    case romm
  }

  /// The profile of ROMM RGB (ISO 22028-2).
  package static var romm: [UInt8]? {
    bytes(
      white: (0.3457, 0.3585), red: (0.7347, 0.2653), green: (0.1596, 0.8404), blue: (0.0366, 0.0001),
      curve: .romm)
  }

  /// Returns the bytes of a profile, equal for equal numbers; nil if the numbers span no gamut.
  package static func bytes(
    white: Point, red: Point, green: Point, blue: Point, curve: Curve
  ) -> [UInt8]? {
    let points = [white, red, green, blue]
    // Outside this range, LittleCMS divides by zero, or a colour has negative light.
    guard points.allSatisfy({ $0.x >= 0 && $0.y > 0 && $0.x + $0.y <= 1.0001 }) else { return nil }
    let doubled = (green.x - red.x) * (blue.y - red.y) - (blue.x - red.x) * (green.y - red.y)
    guard abs(doubled) > 1e-3, let tone = tone(curve) else { return nil }
    defer { cmsFreeToneCurve(tone) }
    var whitePoint = cmsCIExyY(x: white.x, y: white.y, Y: 1)
    var primaries = cmsCIExyYTRIPLE(
      Red: cmsCIExyY(x: red.x, y: red.y, Y: 1), Green: cmsCIExyY(x: green.x, y: green.y, Y: 1),
      Blue: cmsCIExyY(x: blue.x, y: blue.y, Y: 1))
    let tones: [OpaquePointer?] = [tone, tone, tone]
    guard let profile = cmsCreateRGBProfile(&whitePoint, &primaries, tones) else { return nil }
    defer { cmsCloseProfile(profile) }
    var size: cmsUInt32Number = 0
    guard cmsSaveProfileToMem(profile, nil, &size) != 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(size))
    guard cmsSaveProfileToMem(profile, &bytes, &size) != 0, bytes.count > 128 else { return nil }
    // A fixed creation date (ICC.1:2010, 7.2.9): 1 January 2000.
    bytes.replaceSubrange(24..<36, with: [0x07, 0xd0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0])
    return bytes
  }

  private static func tone(_ curve: Curve) -> OpaquePointer? {
    switch curve {
    case .power(let power): return (0.1...10).contains(power) ? cmsBuildGamma(nil, power) : nil
    // LittleCMS' fourth curve type: ((a·x + b) to the power g) from d on, below it c·x.
    case .standardRGB:
      return cmsBuildParametricToneCurve(nil, 4, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
    case .television:
      return cmsBuildParametricToneCurve(nil, 4, [1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081])
    case .romm: return cmsBuildParametricToneCurve(nil, 4, [1.8, 1, 0, 1 / 16.0, 1 / 32.0])
    }
  }
}

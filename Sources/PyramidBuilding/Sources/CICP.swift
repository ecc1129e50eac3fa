import ZigguratImaging

/// Colours by the numbers of ITU-T H.273, as PNG's cICP and HEIF's nclx have them.
struct CICP: Hashable {
  let primaries: Int
  let transfer: Int

  private static let d65 = (x: 0.3127, y: 0.3290)
  private static let c = (x: 0.310, y: 0.316)

  /// Red, green, blue and white (H.273, table 2).
  private var points: [ColourProfile.Point]? {
    switch primaries {
    // Unspecified: sRGB's, which are those of BT.709.
    case 1, 2: [(0.640, 0.330), (0.300, 0.600), (0.150, 0.060), Self.d65]
    case 4: [(0.67, 0.33), (0.21, 0.71), (0.14, 0.08), Self.c]
    case 5: [(0.64, 0.33), (0.29, 0.60), (0.15, 0.06), Self.d65]
    case 6, 7: [(0.630, 0.340), (0.310, 0.595), (0.155, 0.070), Self.d65]
    case 8: [(0.681, 0.319), (0.243, 0.692), (0.145, 0.049), Self.c]
    case 9: [(0.708, 0.292), (0.170, 0.797), (0.131, 0.046), Self.d65]
    case 11: [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060), (0.314, 0.351)]
    case 12: [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060), Self.d65]
    case 22: [(0.630, 0.340), (0.295, 0.605), (0.155, 0.077), Self.d65]
    default: nil
    }
  }

  /// The curve of the transfer; nil also for the light of films and of high dynamic range (H.273, table 3).
  private var curve: ColourProfile.Curve? {
    switch transfer {
    case 2, 13: .standardRGB
    case 1, 6, 14, 15: .television
    case 4: .power(2.2)
    case 5: .power(2.8)
    case 8: .power(1)
    default: nil
    }
  }

  var isStandardRGB: Bool { (primaries == 1 || primaries == 2) && (transfer == 2 || transfer == 13) }

  /// The bytes of an ICC profile; nil if there is no profile of RGB for such colours.
  var profile: [UInt8]? {
    guard let points, let curve else { return nil }
    return ColourProfile.bytes(
      white: points[3], red: points[0], green: points[1], blue: points[2], curve: curve)
  }

  var description: String {
    let names = [
      1: "BT.709", 4: "BT.470 M", 5: "BT.470 BG", 6: "SMPTE 170M", 7: "SMPTE 240M", 8: "film", 9: "BT.2020",
      11: "DCI-P3", 12: "Display P3", 22: "EBU 3213",
    ]
    let curves = [
      1: "BT.709", 4: "gamma 2.2", 5: "gamma 2.8", 6: "SMPTE 170M", 8: "linear", 13: "sRGB", 14: "BT.2020",
      15: "BT.2020", 16: "PQ", 18: "HLG",
    ]
    func name(_ number: Int, _ names: [Int: String]) -> String {
      number == 2 ? "unspecified" : names[number] ?? "number \(number)"
    }
    return "primaries \(name(primaries, names)), transfer \(name(transfer, curves))"
  }
}

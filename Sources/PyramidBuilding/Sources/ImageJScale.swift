import TileStorage

/// The unit of length in a TIFF that ImageJ or Fiji wrote: its resolution tag counts pixels for each such unit,
/// whatever the tag for the unit says, which has only inches and centimetres (ImageJ, `ij/io/TiffDecoder`).
struct ImageJScale {
  /// `nil` if the unit is no length, as `pixel`.
  let microns: Double?

  /// By ImageJ's names, in lower case.
  private static let units: [String: Double] = [
    "micron": 1, "microns": 1, "micrometer": 1, "micrometre": 1, "um": 1, "µm": 1, "μm": 1, "nm": 1e-3,
    "nanometer": 1e-3, "nanometre": 1e-3, "mm": 1e3, "millimeter": 1e3, "millimetre": 1e3, "cm": 1e4,
    "centimeter": 1e4, "centimetre": 1e4, "m": 1e6, "meter": 1e6, "metre": 1e6, "km": 1e9, "inch": 25_400,
    "inches": 25_400, "in": 25_400,
  ]

  /// The unit that the description of ImageJ's first picture names; nil if it names none, or another program wrote it.
  static func unit(_ description: String) -> ImageJScale? {
    guard description.hasPrefix("ImageJ=") else { return nil }
    for line in description.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0] == "unit" else { continue }
      // ImageJ escapes non-ASCII characters as Java does.
      let name = String(parts[1]).replacing(#/\\u00[bB]5|\\u03[bB][cC]/#, with: "µ")
        .filter { !$0.isWhitespace }.lowercased()
      return ImageJScale(microns: units[name])
    }
    return nil
  }
}

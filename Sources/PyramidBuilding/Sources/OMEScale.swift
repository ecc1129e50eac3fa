import TileGeometry

/// How large a pixel is, as the OME-XML in a TIFF's description says (OME model 2016-06, `Pixels`).
enum OMEScale {
  /// Microns that a unit of length has; those that microscopes write.
  private static let units: [Substring: Double] = [
    "µm": 1, "μm": 1, "um": 1, "nm": 1e-3, "Å": 1e-4, "pm": 1e-6, "mm": 1e3, "cm": 1e4, "m": 1e6,
    "in": 25_400,
  ]

  /// Microns per pixel; nil where the description is no OME-XML or does not say.
  ///
  /// Text of strangers, of which no more is read than the first element `Pixels` with its attributes.
  static func microns(_ description: String) -> Point? {
    guard description.contains("<OME"), let tag = description.firstRange(of: "<Pixels") else { return nil }
    let rest = description[tag.upperBound...]
    guard let end = rest.firstIndex(of: ">") else { return nil }
    let attributes = rest[..<end]
    guard let x = length("PhysicalSizeX", attributes) else { return nil }
    return Point(x: x, y: length("PhysicalSizeY", attributes) ?? x)
  }

  private static func length(_ name: String, _ attributes: Substring) -> Double? {
    guard let number = value(name, attributes).flatMap({ Double($0) }), number > 0, number.isFinite else {
      return nil
    }
    // Where no unit is named it is the micron.
    guard let unit = value(name + "Unit", attributes) else { return number }
    return units[unit].map { number * $0 }
  }

  /// Between quotes of either kind.
  private static func value(_ name: String, _ attributes: Substring) -> Substring? {
    guard let found = attributes.firstRange(of: " \(name)=") else { return nil }
    let rest = attributes[found.upperBound...]
    guard let quote = rest.first, quote == "\"" || quote == "'" else { return nil }
    let text = rest.dropFirst()
    return text.firstIndex(of: quote).map { text[..<$0] }
  }
}

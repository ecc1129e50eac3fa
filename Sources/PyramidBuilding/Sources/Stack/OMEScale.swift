import TileGeometry

/// The size of a pixel by the OME-XML in a TIFF's description (OME model 2016-06, `Pixels`).
enum OMEScale {
  /// Microns that a unit of length has (OME model 2016-06, `UnitsLength`), but pixels and reference frames, which are
  /// no lengths.
  private static let units: [String: Double] = [
    "Ym": 1e30, "Zm": 1e27, "Em": 1e24, "Pm": 1e21, "Tm": 1e18, "Gm": 1e15, "Mm": 1e12, "km": 1e9, "hm": 1e8,
    "dam": 1e7, "m": 1e6, "dm": 1e5, "cm": 1e4, "mm": 1e3, "µm": 1, "μm": 1, "um": 1, "nm": 1e-3, "pm": 1e-6,
    "fm": 1e-9, "am": 1e-12, "zm": 1e-15, "ym": 1e-18, "Å": 1e-4, "thou": 25.4,
    "li": 25_400.0 / 12, "in": 25_400, "ft": 304_800, "yd": 914_400, "mi": 1_609_344_000,
    "ua": 149_597_870_700e6, "ly": 9_460_730_472_580_800e6, "pc": 3.0856775814913673e22, "pt": 25_400.0 / 72,
  ]

  /// Returns the microns per pixel of an image, counted from 0; nil if the description is no OME-XML or does not say
  /// them.
  static func microns(_ description: String, image: Int = 0) -> Point? {
    OMEText(description).flatMap { microns($0, image: image) }
  }

  private static func microns(_ text: OMEText, image: Int) -> Point? {
    // Text after the element need not be well-formed.
    let all = text.images + (text.damagedImage.map { [$0] } ?? [])
    guard all.indices.contains(image), let pixels = all[image].pixels else { return nil }
    return length("PhysicalSizeX", pixels).map { Point(x: $0, y: length("PhysicalSizeY", pixels) ?? $0) }
  }

  /// Returns the microns per pixel of the image that a directory, counted from 0, is a plane of.
  static func microns(_ description: String, ofDirectory directory: Int) -> Point? {
    guard let text = OMEText(description) else { return nil }
    // A text that gives no image its directories describes the first one's pixels alone.
    let image = text.image(ofDirectory: directory) ?? (text.images.count < 2 ? 0 : nil)
    return image.flatMap { microns(text, image: $0) }
  }

  private static func length(_ name: String, _ pixels: [String: String]) -> Double? {
    guard let number = pixels[name].flatMap({ Double($0) }), number > 0, number.isFinite else { return nil }
    // Where no unit is named it is the micron.
    guard let unit = pixels[name + "Unit"] else { return number }
    return units[unit].map { number * $0 }
  }
}

import TileGeometry
import TileStorage

/// How large a pixel is, as the OME-XML in a TIFF's description says (OME model 2016-06, `Pixels`).
enum OMEScale {
  /// Microns that a unit of length has; those that microscopes write.
  private static let units: [String: Double] = [
    "µm": 1, "μm": 1, "um": 1, "nm": 1e-3, "Å": 1e-4, "pm": 1e-6, "mm": 1e3, "cm": 1e4, "m": 1e6,
    "in": 25_400,
  ]

  /// Microns per pixel; nil where the description is no OME-XML or does not say.
  ///
  /// Text of strangers, of which no more is read than the first element `Pixels` with its attributes.
  static func microns(_ description: String) -> Point? {
    guard OMEPixels.isOME(description) else { return nil }
    var microns: Point?
    // What comes behind the element need not be well-formed.
    try? XMLElements.read(
      Array(description.utf8),
      begin: { element in
        guard element.name == "Pixels" else { return true }
        microns = length("PhysicalSizeX", element).map {
          Point(x: $0, y: length("PhysicalSizeY", element) ?? $0)
        }
        return false
      })
    return microns
  }

  private static func length(_ name: String, _ pixels: XMLElements.Element) -> Double? {
    guard let number = pixels[name].flatMap({ Double($0) }), number > 0, number.isFinite else { return nil }
    // Where no unit is named it is the micron.
    guard let unit = pixels[name + "Unit"] else { return number }
    return units[unit].map { number * $0 }
  }
}

package import TileGeometry

/// The limits of a picture's size, stated in info.json.
package struct PictureLimits: Hashable, Sendable {
  /// The maximum number of pixels.
  package var area: Int
  /// The maximum length of either side in pixels. JPEG ends at 65535, and a rotated picture is half as large again.
  package static let side = 32_768

  package init(area: Int = 50_000_000) { self.area = area }

  package func allow(_ size: PixelSize) -> Bool {
    size.width <= Self.side && size.height <= Self.side && size.width * size.height <= area
  }

  /// Returns the maximum length of a side in a format, in pixels.
  package static func side(of format: PictureFormat) -> Int { format.facts.maxDimension }
}

package import TileGeometry

/// What pictures may measure, stated in info.json.
package struct PictureLimits: Hashable, Sendable {
  /// Pixels in all.
  package var area: Int
  /// Pixels of either side; JPEG ends at 65535, and a turned picture is half as large again.
  package static let side = 32_768

  package init(area: Int = 50_000_000) { self.area = area }

  package func allow(_ size: PixelSize) -> Bool {
    size.width <= Self.side && size.height <= Self.side && size.width * size.height <= area
  }

  /// What a format can hold along a side.
  package static func side(of format: PictureFormat) -> Int { format.facts.longestSide }
}

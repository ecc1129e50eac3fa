package import TileGeometry

/// A part of an image to be encoded as a file. The members are in the order in which they apply: region, size, mirror,
/// rotation, quality, format (IIIF Image API 3.0, section 4.7).
package struct Picture: Hashable, Sendable {
  /// Image space, inside the image.
  package var region: PixelRect
  /// The size in pixels to which the region is scaled, before the rotation.
  package var size: PixelSize
  package var isMirrored = false
  /// Degrees clockwise, 0..<360. Other values than multiples of 90 make the picture larger than `size`.
  package var rotation = 0.0
  package var quality = PictureQuality.color
  package var format = PictureFormat.jpg
  /// 1 to 100, for formats that have one; nil for the server's default.
  package var encodingQuality: UInt8?

  package init(region: PixelRect, size: PixelSize, format: PictureFormat = .jpg) {
    self.region = region
    self.size = size
    self.format = format
  }
}

package import TileGeometry

/// A part of an image to be made into a file: region, size, mirror, rotation, quality, format, in this
/// order (IIIF Image API 3.0, section 4.7).
package struct Picture: Hashable, Sendable {
  /// Image space, inside the image.
  package var region: PixelRect
  /// What the region is scaled to, before it is turned.
  package var size: PixelSize
  package var isMirrored = false
  /// Degrees clockwise, 0..<360. Any but multiples of 90 make the picture larger than `size`.
  package var rotation = 0.0
  package var quality = PictureQuality.color
  package var format = PictureFormat.jpg
  /// 1 to 100, of formats that have one; nil for the server's own.
  package var encodingQuality: UInt8?

  package init(region: PixelRect, size: PixelSize, format: PictureFormat = .jpg) {
    self.region = region
    self.size = size
    self.format = format
  }
}

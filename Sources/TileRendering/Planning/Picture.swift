public import TileGeometry

/// A part of an image to be made into a file: region, size, mirror, rotation, quality, format, in this
/// order (IIIF Image API 3.0, section 4.7).
public struct Picture: Hashable, Sendable {
  /// Image space, inside the image.
  public var region: PixelRect
  /// What the region is scaled to, before it is turned.
  public var size: PixelSize
  public var isMirrored = false
  /// Degrees clockwise, 0..<360. Any but multiples of 90 make the picture larger than `size`.
  public var rotation = 0.0
  public var quality = PictureQuality.color
  public var format = PictureFormat.jpg

  public init(region: PixelRect, size: PixelSize, format: PictureFormat = .jpg) {
    (self.region, self.size, self.format) = (region, size, format)
  }
}

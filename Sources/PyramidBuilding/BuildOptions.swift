public import TileStorage

/// What decides an archive's bytes, beside the source.
public struct BuildOptions: Hashable, Sendable {
  /// Level pixels, even; Deep Zoom, IIIF and XYZ clients take any.
  public var tileSize = 512
  public var format = TileFormat.jpeg
  /// Chooses `format` for each image: WebP where it has alpha, which JPEG cannot keep, else JPEG.
  public var choosesFormat = false
  public var fidelity = Fidelity.auto
  /// Of lossy tiles, 1…100.
  public var quality = 80
  /// Of JPEG tiles.
  package var subsampling = Subsampling.auto
  /// What transparent pixels are laid over where the tile format has no alpha: red, green, blue.
  public var background = [255, 255, 255]

  /// Of conversions from an embedded ICC profile, and from CMYK, to sRGB.
  package var intent = RenderingIntent.perceptual
  /// Levels shrink by the mean of light, not of sRGB numbers, which `vips dzsave` takes.
  public var shrinksLinearly = false

  /// Pixels of RGB and gray stay in the space of their embedded profile, which every tile then carries.
  public var keepsProfile = false

  public init() {}

  public static let tileSizes = 64...8192
}

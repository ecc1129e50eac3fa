public import TileStorage

/// The scenes that are built of a file with several.
package enum SceneChoice: Hashable, Sendable {
  /// One alone, counted from 1.
  case one(Int)
  /// Each, as a page.
  case all

  /// - Parameter name: `all` or a number; nil for any other.
  package init?(name: String) {
    guard name != "all" else {
      self = .all
      return
    }
    guard let number = Int(name), 1...1_000_000 ~= number else { return nil }
    self = .one(number)
  }

  var name: String {
    switch self {
    case .one(let number): "\(number)"
    case .all: "all"
    }
  }
}

/// What decides an archive's bytes, beside the source.
public struct BuildOptions: Hashable, Sendable {
  /// The distance between neighbouring tiles in level pixels, an even number of `tileSizes`; Deep Zoom, IIIF and XYZ
  /// clients take any.
  public var tileSize = 512
  /// The format that tiles are stored in.
  public var format = TileFormat.jpeg
  /// Whether `format` is chosen anew for each image: WebP where it has alpha, which JPEG cannot keep, else JPEG.
  public var choosesFormat = false
  /// How near tiles come to their source.
  public var fidelity = Fidelity.auto
  /// The quality of lossy tiles, 1…100 as libjpeg counts.
  public var quality = 80
  /// The tiles are JPEGs, of which JPEG XL makes smaller files that give them back; chosen for each image.
  package var recompressesJPEG = false
  /// Of JPEG tiles.
  package var subsampling = Subsampling.auto
  /// What transparent pixels are laid over where the tile format has no alpha: red, green and blue, each 0…255.
  public var background = [255, 255, 255]

  /// Of conversions from an embedded ICC profile, and from CMYK, to sRGB.
  package var intent = RenderingIntent.perceptual
  /// Whether levels shrink by the mean of light, not of sRGB numbers, which `vips dzsave` takes.
  public var shrinksLinearly = false

  /// The way levels shrink. A picture of which `auto` knows no more has the mean.
  public var downsampling = Downsampling.auto
  /// Whether levels take one pixel of several, which is done to red, green and blue alone.
  package var picksPixels: Bool { downsampling == .nearest || downsampling == .mode }

  /// Whether pixels of RGB and gray stay in the space of their embedded profile, which every tile then carries.
  public var keepsProfile = false

  /// The resolution of PDF and SVG in pixels per inch. If it is nil, a PDF page has that of its scan, or 300, and an
  /// SVG its own size.
  package var resolution: Int?
  /// Pixels along the longer side of an SVG; nil for its own size.
  package var vectorSide: Int?
  /// Of samples of more than 8 bits; nil for all values where a picture uses the upper half of them, else those that
  /// it has.
  package var window: SampleWindow?
  /// The picture that is built of a camera's RAW file.
  package var raw = RawChoice.camera
  /// The bands that are taken, one for gray or three for red, green and blue, counted from 1; nil for all.
  package var bands: [Int]?

  /// The channels of a stack that are shown, by their numbers, counted from 1, or names, which may be quoted
  /// (`ChannelNames`); nil for all.
  package var channels: [String]?
  /// The plane in depth of a stack, and its time point, counted from 1; nil for the middle one, and the first.
  package var depth, time: Int?
  /// The scene of a file that has several; nil for the first.
  package var scene: SceneChoice?
  /// Whether of slides also label, macro and thumbnail are built.
  package var keepsAssociated = false

  /// The damage of a source for which it is refused. It decides whether there is an archive, and not its bytes.
  package var failOn = FailOn.none

  /// Whether a plane of a stack is asked for.
  var asksForPlanes: Bool { channels != nil || depth != nil || time != nil || scene != nil }

  /// The options that `ziggurat build` has by default.
  public init() {}

  /// The tile sizes that a build takes, level pixels.
  public static let tileSizes = 64...8192
}

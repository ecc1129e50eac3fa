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

/// The options of an archive. A build with a value outside its range throws `BuildError.Kind.invalidArgument`.
public struct BuildOptions: Hashable, Sendable {
  /// The side of a tile in level pixels: an even number of `tileSizes`.
  public var tileSize = 512
  /// The format of all tiles.
  public var format = TileFormat.jpeg
  /// Whether the image decides the format, and `format` is ignored: WebP for an image with alpha, JPEG for others.
  public var choosesFormat = false
  /// The fidelity of the tiles to their source.
  public var fidelity = Fidelity.auto
  /// The quality of lossy tiles, 1 to 100. JPEG counts as libjpeg, other formats as their libraries.
  public var quality = 80
  /// Whether JPEG tiles are stored as smaller JPEG XL files that can be converted back; chosen for each image.
  package var recompressesJPEG = false
  /// The resolution of colour in JPEG tiles.
  public var subsampling = Subsampling.auto
  /// The colour that transparent pixels are laid over if the tile format has no alpha: red, green and blue, each 0 to
  /// 255 (sRGB).
  public var background = [255, 255, 255]

  /// The intent of conversions to sRGB from an embedded ICC profile, and from CMYK.
  public var intent = RenderingIntent.perceptual
  /// The rule by which a level is made from the next finer one.
  public var downsampling = Downsampling.auto
  /// Whether levels take one pixel of several, which is done to red, green and blue alone.
  package var picksPixels: Bool { downsampling == .nearest || downsampling == .mode }

  /// Whether RGB and gray pixels stay in the colour space of their embedded ICC profile, which every tile then
  /// contains. Otherwise they are converted to sRGB. Cannot be used with the downsampling `linear`, which computes in
  /// sRGB.
  public var keepsProfile = false

  /// The resolution of PDF and SVG in pixels per inch. If it is nil, a PDF page has that of its scan, or 300, and an
  /// SVG its own size.
  package var resolution: Int?
  /// The values that become black and white in images of more than 8 bits. With `nil`, an image that uses the upper
  /// half of its type's range keeps that range, and any other is spread from its least to its greatest value.
  public var window: SampleWindow?
  /// The picture that is built of a camera's RAW file.
  package var raw = RawChoice.camera
  /// The numbers of the bands that are built, counted from 1: one for gray, or three for red, green and blue; `nil` for
  /// all.
  public var bands: [Int]?

  /// The channels of a stack that are shown, by their numbers, counted from 1, or names, which may be quoted
  /// (`ChannelNames`); nil for all.
  package var channels: [String]?
  /// The plane in depth of a stack, and its time point, counted from 1; nil for the middle one, and the first.
  package var depth, time: Int?
  /// The scene of a file that has several; nil for the first.
  package var scene: SceneChoice?
  /// Whether of slides also label, macro and thumbnail are built.
  package var keepsAssociated = false

  /// The damage for which a source is refused. It decides whether there is an archive, not its bytes.
  package var failOn = FailOn.none

  /// Whether a plane of a stack is asked for.
  var asksForPlanes: Bool { channels != nil || depth != nil || time != nil || scene != nil }

  /// Creates the default options of `ziggurat build`.
  public init() {}

  /// The smallest and the largest `tileSize` in level pixels.
  public static let tileSizes = 64...8192
}

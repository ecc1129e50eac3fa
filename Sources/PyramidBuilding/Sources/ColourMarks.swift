import Imaging

/// What a file says of its colours by other means than an ICC profile: PNG's cICP, gAMA and cHRM, HEIF's
/// nclx, EXIF's ColorSpace and InteroperabilityIndex.
struct ColourMarks {
  /// Made of what they say; nil where that is sRGB, or no profile can say it.
  var profile: [UInt8]?
  /// Which they are and what they say, for reports; nil where they say sRGB.
  var words: String?

  fileprivate static let field = "ziggurat-colour-marks"

  private init() {}

  private init(_ profile: [UInt8]?, _ words: String) { (self.profile, self.words) = (profile, words) }

  private init(_ points: CodePoints, _ name: String) {
    if !points.isStandardRGB { self.init(points.profile, "\(name) (\(points.words))") } else { self.init() }
  }

  /// - Parameter image: opened from `path`.
  static func of(_ image: Image, path: String) -> ColourMarks {
    guard ["srgb", "rgb", "rgb16", "b-w", "grey16"].contains(image.interpretation) else {
      return ColourMarks()
    }
    let hasProfile = image.embeddedProfile != nil
    let loader = Image.loader(ofPath: path)
    if loader == "pngload", let colours = try? PNGFile(path: path).colours {
      // Only cICP stands above a profile (PNG, third edition, 4.3).
      if let points = colours.codePoints, !hasProfile || points.profile != nil {
        return ColourMarks(points, "its cICP")
      }
      if let words = colours.words { return ColourMarks(colours.profile, words) }
      if colours.isStandardRGB { return ColourMarks() }
    }
    if hasProfile { return ColourMarks() }
    if loader == "heifload", let colours = HEIFColours(path: path) {
      return ColourMarks(CodePoints(primaries: colours.primaries, transfer: colours.transfer), "its nclx")
    }
    return ofEXIF(image)
  }

  /// DCF 2.0, 3.2: R03 is Adobe RGB (1998); some write 2 as ColorSpace. That a space is uncalibrated says
  /// nothing: libexif writes so into every file that had no ColorSpace.
  private static func ofEXIF(_ image: Image) -> ColourMarks {
    guard
      image.string("exif-ifd4-InteroperabilityIndex")?.hasPrefix("R03") == true
        || image.string("exif-ifd2-ColorSpace")?.hasPrefix("2 ") == true
    else { return ColourMarks() }
    let adobe = ColourProfile.bytes(
      white: (0.3127, 0.3290), red: (0.64, 0.33), green: (0.21, 0.71), blue: (0.15, 0.06),
      curve: .power(563.0 / 256))
    return ColourMarks(adobe, "its EXIF (Adobe RGB)")
  }
}

extension Image {
  /// Opens a source; what its marks say of its colours it then has as its profile.
  ///
  /// - Parameter keepsBands: leave out no sample of a TIFF: the caller chooses bands.
  static func source(
    path: String, access: Access, page: Int? = nil, scale: Double? = nil, keepsBands: Bool = false
  ) throws(ImagingError) -> Image {
    let image: Image
    if loader(ofPath: path) == "tiffload",
      let picture = try tiff(path: path, access: access, page: page, keepsBands: keepsBands)
    {
      image = picture
    } else {
      image = try Image(path: path, access: access, page: page, scale: scale)
    }
    let marks = ColourMarks.of(image, path: path)
    if let profile = marks.profile { image.setProfile(profile) }
    if let words = marks.words { image.setString(ColourMarks.field, words) }
    return image
  }

  /// What the marks say, where the image has its profile from them.
  var followedMarks: String? { embeddedProfile == nil ? nil : string(ColourMarks.field) }

  /// What the marks say, where no profile could be made of it.
  var unfollowedMarks: String? { embeddedProfile == nil ? string(ColourMarks.field) : nil }
}

import TileStorage
import ZigguratImaging

/// The statements of a file about its colours besides an ICC profile: PNG's cICP, gAMA and cHRM, HEIF's nclx, JPEG
/// 2000's enumerated colour space, EXIF's ColorSpace and InteroperabilityIndex.
struct ColourSignalling {
  /// A profile made from the marks; nil if they mean sRGB, or no profile can express them.
  var profile: [UInt8]?
  /// The names and contents of the marks, for reports; nil if they say sRGB.
  var description: String?

  fileprivate static let field = "ziggurat-colour-marks"

  private init() {}

  private init(_ profile: [UInt8]?, _ description: String) {
    self.profile = profile
    self.description = description
  }

  private init(_ points: CICP, _ name: String) {
    if !points.isStandardRGB {
      self.init(points.profile, "\(name) (\(points.description))")
    } else {
      self.init()
    }
  }

  /// - Parameters:
  ///   - image: opened from `path`.
  ///   - page: the directory of a TIFF's picture, counted from 0.
  ///   - heif: the properties of a HEIF file; nil for any other.
  fileprivate static func of(
    _ image: Image, path: String, page: Int, _ heif: HEIFPicture?
  ) -> ColourSignalling {
    guard ["srgb", "rgb", "rgb16", "b-w", "grey16"].contains(image.interpretation) else {
      return ColourSignalling()
    }
    let hasProfile = image.embeddedProfile != nil
    let loader = Image.loader(ofPath: path)
    if loader == "pngload", let file = try? PNGFile(path: path) {
      image.setNotes(of: file)
      var colours = file.colours
      if colours.isStandardRGB || colours.codePoints != nil { image.setStatesWhite() }
      if !hasProfile {
        if colours.hasProfile, image.profileDefect == nil {
          image.setProfileDefect("embedded profile ignored: it is damaged, or not for such pixels")
        }
        colours.hasProfile = false
      }
      // Only cICP stands above a profile (PNG, third edition, 4.3).
      if let points = colours.codePoints, !hasProfile || points.profile != nil {
        return ColourSignalling(points, "its cICP")
      }
      if let description = colours.description { return ColourSignalling(colours.profile, description) }
      if colours.isStandardRGB || colours.hasProfile { return ColourSignalling() }
    }
    if hasProfile { return ColourSignalling() }
    if loader == "jp2kload", JPEG2000Header(path: path)?.isOfROMM == true {
      return ColourSignalling(ColourProfile.romm, "its colour space (ROMM RGB)")
    }
    if let points = heif?.points {
      return ColourSignalling(CICP(primaries: points.primaries, transfer: points.transfer), "its nclx")
    }
    // libvips reads no EXIF of TIFF files.
    let isAdobeRGB =
      loader == "tiffload"
      && TIFFDirectories.remembered(path: path)?.directories.isAdobeRGB(directory: page) == true
    return ofEXIF(image, isAdobeRGB: isAdobeRGB)
  }

  /// DCF 2.0, 3.2: R03 is Adobe RGB (1998); some write 2 as ColorSpace. That a space is uncalibrated says
  /// nothing: libexif writes so into every file that had no ColorSpace.
  private static func ofEXIF(_ image: Image, isAdobeRGB: Bool) -> ColourSignalling {
    guard
      isAdobeRGB
        || image.string("exif-ifd4-InteroperabilityIndex")?.hasPrefix("R03") == true
        || image.string("exif-ifd2-ColorSpace")?.hasPrefix("2 ") == true
    else { return ColourSignalling() }
    let adobe = ColourProfile.bytes(
      white: (0.3127, 0.3290), red: (0.64, 0.33), green: (0.21, 0.71), blue: (0.15, 0.06),
      curve: .power(563.0 / 256))
    return ColourSignalling(adobe, "its EXIF (Adobe RGB)")
  }
}

extension Image {
  /// Opens a source. The image's profile then includes the colour marks.
  ///
  /// - Parameters:
  ///   - mask: the directory of a TIFF with the page's transparency mask; nil if there is none.
  ///   - keepsBands: whether to keep all samples of a TIFF, because the caller chooses bands.
  ///   - log: the log of a damaged file. The decodable part is read, and the log gets the rest. Nil for any other file.
  static func source(
    path: String, access: Access, page: Int? = nil, mask: Int? = nil, scale: Double? = nil,
    keepsBands: Bool = false, damagedAsIn log: DamageLog? = nil
  ) throws(ImagingError) -> Image {
    var image: Image
    let loader = loader(ofPath: path)
    if loader == "tiffload",
      let picture = try tiff(path: path, access: access, page: page, mask: mask, keepsBands: keepsBands, log)
    {
      image = picture
    } else if let log, let part = try part(ofFileAt: path, loader, log) {
      image = try part.corrected(of: loader, path: path)
    } else if let picture = try misread(path: path, loader) {
      image = picture
    } else {
      let access = needsRandomAccess(path: path, loader) ? .random : access
      let page = page ?? maxPageSize(path: path, loader)
      image = try Image(path: path, access: access, page: page, scale: scale, isDamaged: log != nil)
        .corrected(of: loader, path: path)
    }
    if log == nil, let damage = TruncationCheck.damage(ofFileAt: path, loader) { image.setFlaw(damage) }
    let heif = loader == "heifload" ? HEIFPicture(path: path) : nil
    if heif?.isLimitedGray == true { image = try image.spreadFromLimitedRange() }
    if image.hasAlpha, let straight = try image.unpremultiplied(by: loader, path: path, heif) {
      image = straight
      image.setString(alphaField, "divided by alpha, which its colours were multiplied by")
    }
    if let defect = EmbeddedProfile.defect(of: image) {
      image.removeProfile()
      image.setProfileDefect(defect)
    }
    if let loader, ["heifload", "jp2kload", "jxlload"].contains(loader) { image.setStatesWhite() }
    let marks = ColourSignalling.of(image, path: path, page: page ?? 0, heif)
    if let profile = marks.profile { image.setProfile(profile) }
    if let description = marks.description { image.setString(ColourSignalling.field, description) }
    if let heif { image.setString(unshownField, heif.unshown.joined(separator: "\n")) }
    return image
  }

  /// Returns the decodable part of a damaged file, for formats that libvips decodes completely or not at all.
  private static func part(
    ofFileAt path: String, _ loader: String?, _ log: DamageLog
  ) throws(ImagingError) -> Image? {
    do {
      switch loader {
      case "pngload": return try Image(pngBytes: PNGRepair.repaired(path: path, log), subject: path)
      case "webpload": return try WebPPart.image(path: path, log)
      case "jxlload":
        guard let frame = JPEGXL.firstFrame(ofFileAt: path) else { return nil }
        if !frame.isWhole {
          log.add(.truncated, "the JPEG XL file is cut off: details or parts of its picture are missing")
        }
        return frame.image
      case "jp2kload":
        guard JPEG2000Header(path: path)?.refusal(path: path) == nil,
          let part = JPEG2000.part(ofFileAt: path)
        else { return nil }
        log.add(
          part.isCutOff ? .truncated : .error,
          "the JPEG 2000 file is \(part.isCutOff ? "cut off" : "damaged"): details or parts of its picture are missing"
        )
        return part.image
      case "ppmload": return try netpbmPart(path: path, log)
      default: return nil
      }
    } catch { throw ImagingError(opening: path, BuildError(path, error).reason) }
  }

  /// The picture of a format that says its colours are multiplied by alpha, as tiles have them; nil if they are not.
  private func unpremultiplied(
    by loader: String?, path: String, _ heif: HEIFPicture?
  ) throws(ImagingError) -> Image? {
    switch loader {
    case "heifload" where heif?.isPremultiplied == true: try unpremultiplied(rounds: true)
    case "jxlload" where JPEGXLHeader(path: path)?.isPremultiplied == true: try unpremultiplied(rounds: true)
    case "jp2kload" where JPEG2000Header(path: path)?.isPremultiplied == true:
      try unpremultiplied(rounds: true)
    // Always (OpenEXR, Technical Introduction, "Alpha"); libvips makes its alpha 0…255, also if the file has none.
    case "openexrload" where (try? SourceFile(path: path)).flatMap(EXRHeader.init)?.hasAlpha != false:
      try unpremultiplied(white: 255)
    default: nil
    }
  }

  private static let whiteField = "ziggurat-states-white"
  private static let alphaField = "ziggurat-alpha"
  private static let flawField = "ziggurat-flaw"
  private static let animationField = "ziggurat-png-animation"
  private static let labelsField = "ziggurat-png-labels"
  private static let unshownField = "ziggurat-heif-unshown"

  fileprivate func setStatesWhite() { setInt(Self.whiteField, 1) }

  /// Whether the file states which value of samples of more than 8 bits is white: by a profile or other marks of its
  /// colour space, by a number of bits per sample below that of the samples' type, or by its format, if that always
  /// does so.
  var statesWhite: Bool {
    hasField(Self.whiteField) || embeddedProfile != nil
      || hasDeclaredBits && (sampleRange.map { $0.upperBound - $0.lowerBound < 65535 } ?? false)
  }

  /// Adds the properties of a PNG file other than its colours. The image must not be shared.
  fileprivate func setNotes(of file: PNGFile) {
    if file.isAnimated { setInt(Self.animationField, 1) }
    // libvips reads EXIF in front of the pixels alone.
    if orientation == 1, let late = PNGLateEXIF.orientation(of: file), late != 1 {
      setInt("orientation", late)
    }
    if let palette = file.palette, SegmentationMap.isOfLabels(palette) { setInt(Self.labelsField, 1) }
    if let flaw = file.chunks.log.worst { setFlaw(flaw) }
  }

  /// Adds damage that is known without decoding a pixel. The image must not be shared.
  func setFlaw(_ damage: SourceDamage) {
    setString(Self.flawField, "\(damage.kind.rawValue) \(damage.reason)")
  }

  /// Damage of the file that is known before its pixels are decoded.
  var knownDamage: SourceDamage? {
    guard let parts = string(Self.flawField)?.split(separator: " ", maxSplits: 1), parts.count == 2 else {
      return nil
    }
    return SourceDamage.Kind(rawValue: String(parts[0])).map { SourceDamage($0, String(parts[1])) }
  }

  /// Whether a PNG file has frames beside its picture.
  var isAnimatedPNG: Bool { hasField(Self.animationField) }

  /// Whether the colours of a PNG file's palette are labels.
  var isLabelPNG: Bool { hasField(Self.labelsField) }

  /// Names, for reports, of data in a HEIF file that is not shown.
  var unshownOfHEIF: [String] {
    string(Self.unshownField).map { $0.split(separator: "\n").map(String.init) } ?? []
  }

  private static let profileDefectField = "ziggurat-profile-fault"

  /// The change to the file's alpha, as a clause; nil if there was none.
  var alphaNote: String? { string(Self.alphaField) }

  fileprivate func setProfileDefect(_ defect: String) { setString(Self.profileDefectField, defect) }

  /// The reason why the file's profile was not used, as a clause; nil if it was, or there is none.
  var profileDefect: String? { string(Self.profileDefectField) }

  /// The contents of the marks, if the image has its profile from them; nil otherwise.
  var followedMarks: String? { embeddedProfile == nil ? nil : string(ColourSignalling.field) }

  /// The contents of the marks, if no profile could be made of them; nil otherwise.
  var unfollowedMarks: String? { embeddedProfile == nil ? string(ColourSignalling.field) : nil }
}

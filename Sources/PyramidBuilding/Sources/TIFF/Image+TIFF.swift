import ZigguratCTIFF
import ZigguratImaging

/// TIFF pictures as their tags describe them, where libvips decides otherwise.
extension Image {
  private static let notesField = "ziggurat-tiff-notes"

  /// The decisions about a TIFF's samples, a clause each.
  var sampleNotes: [String] {
    string(Self.notesField).map { $0.split(separator: "\n").map(String.init) } ?? []
  }

  private static let rowsField = "ziggurat-rows-held"

  /// Rows of pixels that a decoder of our own holds at once; nil for any other.
  var rowsHeld: Int? { int(Self.rowsField) }

  /// Opens an image of a TIFF file; nil if libtiff cannot open it, so that libvips refuses it.
  ///
  /// - Parameters:
  ///   - page: counted from 0; nil is the first.
  ///   - mask: the directory of its transparency mask; nil if it has none.
  ///   - keepsBands: leave out no sample: the caller chooses bands.
  ///   - log: of a damaged file, which then is read as far as it can be; nil for any other.
  static func tiff(
    path: String, access: Access, page: Int?, mask: Int? = nil, keepsBands: Bool, _ log: DamageLog? = nil
  ) throws(ImagingError) -> Image? {
    guard let tags = TIFFTags.read(path: path, page: page ?? 0) else { return nil }
    if let refusal = tags.refusal(keepsBands: keepsBands) {
      throw ImagingError(opening: path, refusal)
    }
    let isOwn = !tags.isReadByLibvips || log != nil
    let loaded: Image
    if isOwn {
      let fields = try? Image(tiff: path, access: access, page: page)
      loaded = try pixels(path: path, access: access, page: page ?? 0, tags, fields: fields, log)
      if fields == nil, let handle = try? TIFFHandle(path: path, page: page ?? 0) {
        loaded.setFields(of: handle)
      }
    } else {
      loaded = try Image(tiff: path, access: access, page: page)
    }
    var image = loaded
    var notes = [tags.missingNote, tags.colourNote].compactMap(\.self)
    if !keepsBands, let choice = tags.choice, image.bands == tags.pictureBands {
      image = try image.taking(choice, isOwn: isOwn)
      notes += choice.notes
    }
    if tags.photometric == PHOTOMETRIC_MINISWHITE, isOwn || tags.format != SAMPLEFORMAT_UINT {
      let upright = image
      let open = { () throws(ImagingError) in
        isOwn ? upright : try Image(tiff: path, access: .sequential, page: page)
      }
      image = try image.invertedGray(open)
    } else if tags.photometric == PHOTOMETRIC_MINISWHITE, let range = image.sampleRange {
      // libvips has inverted it.
      image.setMirror(range.lowerBound + range.upperBound)
    }
    // Luminance is linear light in each of red, green and blue.
    if tags.isLuminance, !keepsBands { image = try image.selected(bands: [0, 0, 0]).said(toBe: "scrgb") }
    if !keepsBands, !image.hasAlpha, let mask {
      image = try image.withAlpha(Self.mask(path: path, access: access, directory: mask))
      notes.append("its mask taken as alpha")
    }
    if !notes.isEmpty { image.setString(notesField, notes.joined(separator: "\n")) }
    return image
  }

  /// Opens a page by libvips, in the same time wherever in the file it lies.
  private convenience init(tiff path: String, access: Access, page: Int?) throws(ImagingError) {
    guard let page, page > 0, let view = TIFFPageView(path: path, page: page) else {
      try self.init(path: path, access: access, page: page)
      return
    }
    try self.init(view, loader: "tiffload", access: access, subject: path)
  }

  /// The image of pixels that are decoded here.
  private static func pixels(
    path: String, access: Access, page: Int, _ tags: TIFFTags, fields: Image?, _ log: DamageLog? = nil
  ) throws(ImagingError) -> Image {
    let pixels: TIFFChunkPixels
    do throws(BuildError) {
      pixels = try TIFFChunkPixels(
        path: path, page: page, tags: tags, keepsAll: access == .random, damagedAsIn: log)
    } catch {
      throw ImagingError(opening: path, error.reason)
    }
    let image = try Image(pixels.header, fields: fields, subject: path, from: pixels)
    image.setInt(rowsField, pixels.rowsHeld)
    return image
  }

  /// Returns a transparency mask as one band of 0…255. Any value but 0 means the picture (TIFF 6.0, NewSubfileType).
  private static func mask(path: String, access: Access, directory: Int) throws(ImagingError) -> Image {
    guard let tags = TIFFTags.read(path: path, page: directory), tags.samples == 1,
      tags.format == SAMPLEFORMAT_UINT, tags.bits <= 8
    else { throw ImagingError(opening: path, "its mask (directory \(directory + 1)) cannot be read") }
    return try pixels(path: path, access: access, page: directory, tags, fields: nil)
  }

  /// Whether a transparency mask hides pixels; nil if it cannot be read.
  static func hidesPixels(maskOf path: String, directory: Int) -> Bool? {
    guard let mask = try? mask(path: path, access: .sequential, directory: directory),
      let least = try? Image.range(ofFirst: 1, { mask }).least
    else { return nil }
    return least < 255
  }

  /// The fields that libvips would have given.
  private func setFields(of handle: TIFFHandle) {
    setString("vips-loader", "tiffload")
    setInt("n-pages", Int(TIFFNumberOfDirectories(handle.pointer)))
    setInt("orientation", handle.short(TIFFTAG_ORIENTATION))
    if let text = handle.text(TIFFTAG_IMAGEDESCRIPTION) { setString("image-description", text) }
    let profile = handle.bytes(TIFFTAG_ICCPROFILE)
    if !profile.isEmpty { setProfile(profile) }
    let millimetres: Double? =
      switch Int32(handle.short(TIFFTAG_RESOLUTIONUNIT)) {
      case RESUNIT_INCH: 25.4
      case RESUNIT_CENTIMETER: 10
      default: nil
      }
    if let millimetres, let x = handle.float(TIFFTAG_XRESOLUTION), let y = handle.float(TIFFTAG_YRESOLUTION),
      x > 0, y > 0
    {
      setPixelsPerMillimetre(x: x / millimetres, y: y / millimetres)
    }
  }

  /// Returns inverted gray whose minimum is white. libvips inverts only unsigned samples.
  ///
  /// - Parameter open: returns the same image, not read yet.
  private func invertedGray(_ open: () throws(ImagingError) -> Image) throws(ImagingError) -> Image {
    let top: Double
    if let range = sampleRange {
      top = range.lowerBound + range.upperBound
    } else {
      // Floats have the range that they are shown with.
      let (least, greatest) = try Image.range(ofFirst: 1, open)
      top = least < 0 || greatest > 255 ? least + greatest : greatest > 1 ? 255 : 1
    }
    let inverted = try inverted(first: 1, top: top)
    inverted.setMirror(top)
    return inverted
  }

  private static let mirrorField = "ziggurat-mirror"

  private func setMirror(_ sum: Double) { setString(Self.mirrorField, "\(sum)") }

  /// The sum of each sample and the file's own, if white is the file's least value and the samples were inverted.
  var mirror: Double? { string(Self.mirrorField).flatMap(Double.init) }

  private func taking(_ choice: TIFFTags.Choice, isOwn: Bool) throws(ImagingError) -> Image {
    var image = self
    if choice.samples != Array(0..<bands) { image = try image.selected(bands: choice.samples) }
    let colours = choice.samples.count - (choice.alpha == nil ? 0 : 1)
    if colours == 3, ["b-w", "multiband"].contains(image.interpretation) {
      image = try image.said(toBe: "srgb")
    }
    if choice.alpha == .associated, isOwn { image = try image.unpremultiplied(rounds: true) }
    guard choice.alpha != nil, sampleType == .float else { return image }
    // libvips takes alpha beside linear light for 0…255.
    let alpha = image.interpretation == "scrgb" ? 255.0 : 1
    return try image.multiplied(by: [Double](repeating: 1, count: colours) + [alpha])
  }
}

extension TIFFTags {
  /// Whether libvips shows the file's pixels as its tags describe them.
  fileprivate var isReadByLibvips: Bool {
    if missingCount > 0 || hasShortUnits || isYCbCrUnderRGB || hasCroppedTiles || isCodedApart {
      return false
    }
    if lacksPhotometric || isLuminance || mayHaveFullLastStrip { return false }
    // It cuts the fractions off of colours that it divides by alpha.
    if format != SAMPLEFORMAT_IEEEFP, extra.contains(Int(EXTRASAMPLE_ASSOCALPHA)) { return false }
    // It takes the tiles of planes for one plane's, and does not read planes of gray.
    if isSeparate, isTiled || isGray { return false }
    if isTiled, chunkHeight > Self.maxTileSize / chunkWidth { return false }
    let isWhole = format == SAMPLEFORMAT_UINT && (bits == 8 || bits == 16)
    switch photometric {
    case PHOTOMETRIC_MINISBLACK:
      return isWhole || extra.isEmpty && (isPackedGray || isNumber)
    case PHOTOMETRIC_MINISWHITE:
      return extra.isEmpty && (isWhole || isPackedGray || isNumber)
    case PHOTOMETRIC_RGB: return isWhole || extra.isEmpty && isNumber
    case PHOTOMETRIC_PALETTE: return samples == 1 && (bits == 8 || isPackedGray)
    case PHOTOMETRIC_SEPARATED:
      return isWhole && (extra.isEmpty || bits == 8 && !extra.contains(Int(EXTRASAMPLE_ASSOCALPHA)))
    case PHOTOMETRIC_YCBCR: return compression == COMPRESSION_JPEG && !isSeparate
    // Floats are L*, a* and b* themselves.
    case PHOTOMETRIC_CIELAB where format == SAMPLEFORMAT_IEEEFP: return extra.isEmpty
    case PHOTOMETRIC_CIELAB, PHOTOMETRIC_ICCLAB, PHOTOMETRIC_ITULAB, PHOTOMETRIC_MASK: return false
    default: return compression != COMPRESSION_OJPEG
    }
  }

  /// Pixels of the largest tile that libvips is given.
  private static let maxTileSize = 1 << 24

  /// Integers of 1, 2 or 4 bits.
  private var isPackedGray: Bool { format == SAMPLEFORMAT_UINT && samples == 1 && [1, 2, 4].contains(bits) }

  /// Whether libvips has a type for the numbers, but no alpha or special interpretation.
  private var isNumber: Bool {
    switch format {
    case SAMPLEFORMAT_UINT: bits == 32
    case SAMPLEFORMAT_INT: [8, 16, 32].contains(bits)
    default: bits == 32
    }
  }
}

import CTIFF
import Imaging

/// TIFF pictures as their tags describe them, where libvips decides otherwise.
extension Image {
  private static let notesField = "ziggurat-tiff-notes"

  /// What was decided of a TIFF's samples, a clause each.
  var sampleNotes: [String] {
    string(Self.notesField).map { $0.split(separator: "\n").map(String.init) } ?? []
  }

  /// Opens an image of a TIFF file; nil if libtiff cannot open it, so that libvips refuses it.
  ///
  /// - Parameters:
  ///   - page: counted from 0; nil is the first.
  ///   - keepsBands: leave out no sample: the caller chooses bands.
  ///   - log: of a damaged file, which then is read as far as it can be; nil for any other.
  static func tiff(
    path: String, access: Access, page: Int?, keepsBands: Bool, _ log: DamageLog? = nil
  ) throws(ImagingError) -> Image? {
    guard let handle = try? TIFFHandle(path: path, page: page ?? 0), let tags = TIFFTags(handle) else {
      return nil
    }
    if tags.photometric == PHOTOMETRIC_ITULAB {
      throw ImagingError("open", path, message: "its \(tags.photometricName) is not read")
    }
    let isOwn = tags.needsLibtiff || log != nil
    let loaded: Image
    if isOwn {
      let fields = try? Image(tiff: path, access: access, page: page)
      do {
        let pixels = try TIFFUnitPixels(path: path, page: page ?? 0, tags: tags, damagedAsIn: log)
        loaded = try Image(pixels.header, fields: fields, subject: path, from: pixels)
      } catch let error as ImagingError {
        throw error
      } catch { throw ImagingError("open", path, message: BuildError(path, error).reason) }
      if fields == nil { loaded.setFields(of: handle) }
    } else {
      loaded = try Image(tiff: path, access: access, page: page)
    }
    var image = loaded
    var notes: [String] = []
    if let note = tags.missingNote { notes.append(note) }
    if tags.isYCbCrUnderRGB { notes.append("its JPEG data are YCbCr, though its tag says RGB") }
    if tags.photometric == PHOTOMETRIC_MINISWHITE, isOwn || tags.format != SAMPLEFORMAT_UINT {
      let open = { () throws(ImagingError) in
        isOwn ? loaded : try Image(tiff: path, access: .sequential, page: page)
      }
      image = try image.invertedGray(open)
    }
    if !keepsBands, let choice = tags.choice, image.bands == tags.samples {
      image = try image.taking(choice, isOwn: isOwn)
      notes += choice.notes
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

  /// Gray of which the least value is white, turned round. libvips does so for unsigned samples alone.
  ///
  /// - Parameter open: the same image, not read yet.
  private func invertedGray(_ open: () throws(ImagingError) -> Image) throws(ImagingError) -> Image {
    if let range = sampleType.range {
      return try inverted(first: 1, top: range.lowerBound + range.upperBound)
    }
    // Floats have the range that they are shown with.
    let (least, greatest) = try Image.range(ofFirst: 1, open)
    let top = least < 0 || greatest > 255 ? least + greatest : greatest > 1 ? 255 : 1
    return try inverted(first: 1, top: top)
  }

  private func taking(_ choice: TIFFTags.Choice, isOwn: Bool) throws(ImagingError) -> Image {
    var image = self
    if choice.samples != Array(0..<bands) { image = try image.selected(bands: choice.samples) }
    let colours = choice.samples.count - (choice.alpha == nil ? 0 : 1)
    if colours == 3, ["b-w", "multiband"].contains(image.interpretation) {
      image = try image.said(toBe: "srgb")
    }
    if choice.alpha == .associated, isOwn { image = try image.unpremultiplied() }
    guard choice.alpha != nil, sampleType == .float else { return image }
    // libvips divided by alpha as if white were 255, which in floats it is not.
    let colour = choice.alpha == .associated && !isOwn ? 1.0 / 255 : 1
    // It takes alpha beside linear light for 0…255.
    let alpha = image.interpretation == "scrgb" ? 255.0 : 1
    return try image.multiplied(by: [Double](repeating: colour, count: colours) + [alpha])
  }
}

extension TIFFTags {
  /// Whether libvips would show other pixels than the file's, or none.
  fileprivate var needsLibtiff: Bool {
    if compression == COMPRESSION_OJPEG { return true }
    if format == SAMPLEFORMAT_IEEEFP, bits == 64 { return isGray || photometric == PHOTOMETRIC_RGB }
    if missingCount > 0 || hasShortUnits || isYCbCrUnderRGB { return true }
    // libvips takes such planes for one.
    if isSeparate, isGray { return true }
    switch photometric {
    case PHOTOMETRIC_YCBCR:
      return compression != COMPRESSION_JPEG && TIFFIsCODECConfigured(UInt16(clamping: compression)) != 0
    case PHOTOMETRIC_ICCLAB: return true
    case PHOTOMETRIC_CIELAB: return !extra.isEmpty
    default: return false
    }
  }
}

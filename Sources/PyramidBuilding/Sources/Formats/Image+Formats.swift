import ZigguratFiles
import ZigguratImaging

/// Pictures that libvips 8.14 decodes differently from their formats' specifications.
extension Image {
  /// Opens a picture by another library than libvips' own loader uses; nil if libvips reads it.
  ///
  /// - Throws: if no library reads it.
  static func misread(path: String, _ loader: String?) throws(ImagingError) -> Image? {
    switch loader {
    case "jp2kload":
      guard let header = JPEG2000Header(path: path) else { return nil }
      if let refusal = header.refusal(path: path) { throw refusal }
      return header.isReadByLibvips ? nil : try Image(header, path: path).described(by: header)
    case "jxlload":
      guard JPEGXLHeader(path: path)?.isAnimated == true,
        let frame = JPEGXL.firstFrame(ofFileAt: path), frame.isWhole
      else { return nil }
      if JPEGXL.isCutOff(fileAt: path) {
        frame.image.setFlaw(
          .init(.truncated, "the JPEG XL file is cut off: frames behind the first are missing"))
      }
      return frame.image
    case "openexrload":
      guard let file = try? SourceFile(path: path), let header = EXRHeader(file),
        !header.channels.isEmpty, !header.hasColours
      else { return nil }
      throw ImagingError("openexrload", path, message: header.refusal)
    case "magickload":
      if let file = try? SourceFile(path: path), let refusal = magickRefusal(file) {
        throw ImagingError("magickload", path, message: refusal)
      }
      return try (try? SourceFile(path: path)).flatMap(PhotoshopFile.init)?.separatedPicture()
    default: return nil
    }
  }

  /// Why ImageMagick's picture of a file would be wrong, as a clause; nil if it is right.
  private static func magickRefusal(_ file: SourceFile) -> String? {
    if let header = XCFHeader(file), !header.isFlat { return header.refusal }
    guard let start = file.bytes(0, 26), start.starts(with: "8BPS".utf8) else { return nil }
    switch start[25] {
    case 2:
      return "is a PSD file in indexed colours, which is not read here: save it in RGB, or convert it with "
        + "Pillow, as Image.open(FILE).convert('RGB').save('FILE.png')"
    // libvips ends the process at five channels.
    case 4 where PhotoshopFile(file) == nil:
      return "is a PSD file that is cut off or damaged before its composite picture: save it again"
    case 9:
      return "is a PSD file in CIELab, which is not read here: convert it, for example with "
        + "'convert FILE[0] -colorspace sRGB FILE.png'"
    default: return nil
    }
  }

  /// The page to read of a file that has one picture in several sizes: the largest; nil for the first one.
  static func maxPageSize(path: String, _ loader: String?) -> Int? {
    guard loader == "magickload", let file = try? SourceFile(path: path),
      let largest = IconDirectory(file)?.largest, largest > 0
    else { return nil }
    return largest
  }

  /// Whether rows have to be read in another order than the file has them.
  static func needsRandomAccess(path: String, _ loader: String?) -> Bool {
    loader == "ppmload" && (try? SourceFile(path: path)).flatMap(PNMHeader.init)?.isFloat == true
  }

  /// The picture with the pixels that its format says it has.
  func corrected(of loader: String?, path: String) throws(ImagingError) -> Image {
    if loader == "jp2kload" { return try JPEG2000Header(path: path).map(described) ?? self }
    // Each open of a file on another machine is a question to that machine.
    let formats = ["ppmload", "radload", "openexrload", "magickload", "fitsload", "gifload"]
    guard let loader, formats.contains(loader), let file = try? SourceFile(path: path) else { return self }
    return switch loader {
    case "ppmload": try PNMHeader(file).map(corrected) ?? self
    case "radload": try RadianceHeader(file).map(corrected) ?? self
    case "openexrload": try EXRHeader(file).map(corrected) ?? self
    case "magickload" where hasAlpha && Self.isBitmapWithoutAlpha(file):
      try bands(from: 0, count: bands - 1).said(toBe: interpretation)
    // Gray of 16 bits, and gray colours of a palette: libvips says gray of three equal bands, and takes the further
    // ones for alpha.
    case "magickload" where interpretation == "b-w" && bands > 2: try said(toBe: "srgb")
    case "magickload" where interpretation == "grey16" && bands > 2: try said(toBe: "rgb16")
    case "fitsload": try FITSHeader(file).map(corrected) ?? self
    case "gifload": try GIFHeader(file).map(filled) ?? self
    default: self
    }
  }

  private func corrected(_ header: RadianceHeader) throws(ImagingError) -> Image {
    guard header.orientation != 1 || header.isXYZ else { return self }
    var image = try said(toBe: interpretation)
    if header.isXYZ {
      image = try image.unpackedRadiance().recombined(Self.linearRGBOfXYZ).said(toBe: "scrgb")
      image.setColourNote("converted from CIE XYZ")
    }
    if header.orientation != 1 { image.setInt("orientation", header.orientation) }
    return image
  }

  /// Red, green and blue of XYZ under D65 (IEC 61966-2-1).
  private static let linearRGBOfXYZ = [
    [3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570],
  ]

  private func corrected(_ header: EXRHeader) throws(ImagingError) -> Image {
    guard let matrix = header.standardRGBMatrix, interpretation == "scrgb", bands > 2 else { return self }
    let image = try recombined(matrix)
    image.setColourNote("colours converted from the file's chromaticities")
    return image
  }

  /// Whether the fourth byte of a BMP's pixels is no alpha: without a mask for it, or without masks at all.
  private static func isBitmapWithoutAlpha(_ file: SourceFile) -> Bool {
    guard let start = file.bytes(0, 34), start.starts(with: "BM".utf8), start[28] == 32, start[29] == 0 else {
      return false
    }
    switch ByteOrder.little.number(start, at: 30, 4) {
    case 0: return true
    // Masks of red, green and blue; from BITMAPV3INFOHEADER on that of alpha follows them.
    case 3: return ByteOrder.little.number(start, at: 14, 4) < 56 || file.bytes(66, 4) == [0, 0, 0, 0]
    default: return false
    }
  }

  /// The picture with samples that are no numbers in place of those that the file calls undefined.
  private func corrected(_ header: FITSHeader) throws(ImagingError) -> Image {
    guard let blank = header.blankValue else { return self }
    return try withoutNumbers(where: blank)
  }

  private func corrected(_ header: PNMHeader) throws(ImagingError) -> Image {
    if header.isFloat {
      // PFM has its last row first, and linear light (netpbm.sourceforge.net/doc/pfm.html).
      let upright = try flippedVertically()
      let image = try (bands == 1 ? upright.selected(bands: [0, 0, 0]) : upright).said(toBe: "scrgb")
      image.setDecoderMemory(width * height * bands * 4)
      return image
    }
    if header.greatest == 1 && header.isBitmap { return self }
    if sampleType == .byte, header.greatest < 255 {
      return try scaledToBytes(factor: 255 / Double(header.greatest), offset: 0, alpha: 1)
    }
    if sampleType == .unsigned16, header.greatest < 65535 {
      let image = try said(toBe: interpretation)
      image.setInt(Self.whiteField, header.greatest)
      return image
    }
    return self
  }

  private static let whiteField = "ziggurat-declared-white"

  /// The value of white that the file declares, if it is less than the greatest of its samples' type.
  var declaredWhite: Double? { int(Self.whiteField).map(Double.init) }

  /// The first frame of a GIF on a canvas of the first colour of its table, as Pillow has it; libvips leaves it black.
  private func filled(_ header: GIFHeader) throws(ImagingError) -> Image {
    let frame = header.frame
    guard header.isPartial, bands == 1 || bands == 3, width == header.width, height == header.height,
      frame.width > 0,
      frame.height > 0, frame.left + frame.width <= width, frame.top + frame.height <= height
    else { return self }
    let colour = header.firstColour.prefix(bands).map(Double.init)
    return try area(left: frame.left, top: frame.top, width: frame.width, height: frame.height)
      .embedded(left: frame.left, top: frame.top, width: width, height: height, background: colour)
  }

  /// The picture of a PNM file that ends early, with black in place of the rows that are missing.
  static func netpbmPart(path: String, _ log: DamageLog) throws -> Image? {
    let file = try SourceFile(path: path)
    guard let header = PNMHeader(file), let size = header.declaredSize, size > file.identity.size,
      header.missingRows < header.height
    else { return nil }
    log.add(TruncationCheck.netpbm(header, missingRows: header.missingRows))
    return try Image(
      FilledFile(file, byteCount: size), loader: "ppmload",
      access: header.isFloat ? .random : .sequential, subject: path)
  }
}

extension Image {
  private static let colourNoteField = "ziggurat-colour-note"

  /// Records a change to the colours for the build's steps. The image must not be shared.
  func setColourNote(_ note: String) { setString(Self.colourNoteField, note) }

  /// The change to the file's colours, as a clause; nil if there was none.
  var colourNote: String? { string(Self.colourNoteField) }

  /// Returns gray of limited range (16…235) spread over all values, as ITU-T H.273, 8.3, has it.
  func spreadFromLimitedRange() throws(ImagingError) -> Image {
    let factor = 255.0 / 219
    let colours = bands - (hasAlpha ? 1 : 0)
    let image =
      isBytes
      ? try scaledToBytes(factor: factor, offset: -16 * factor, alpha: 1)
      : try spread(from: 16 * 256, to: 235 * 256, colours: colours, alpha: 1)
    image.setColourNote("gray spread from limited range")
    return image
  }
}

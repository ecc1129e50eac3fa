import ZigguratCTIFF

/// What the first image of a TIFF file is made of: tiles, or strips, which count as tiles of the
/// image's width.
struct TIFFFile {
  let path: String
  /// Why it is not read here, which takes 8-bit gray or RGB side by side in the common compressions, in
  /// units small enough to be decoded by themselves; nil where it is.
  let obstacle: String?
  let width: Int
  let height: Int
  /// 1 gray, 3 RGB.
  let bands: Int
  let isTiled: Bool
  let unitWidth: Int
  let unitHeight: Int
  /// Units in a row of them.
  let columns: Int
  let rows: Int
  let isJPEG: Bool
  let isDeflated: Bool
  /// Whether samples are stored as differences.
  let isPredicted: Bool
  /// JPEG of YCbCr; otherwise of the bands themselves.
  let isYCbCr: Bool
  /// Whether JPEG data are YCbCr by their own marker, while the photometric tag says RGB.
  let isYCbCrUnderRGB: Bool
  /// Whether the data have no compression.
  let isStored: Bool
  /// Tiles or strips that the file does not hold; their samples are 0.
  let missingCount: Int
  /// What all JPEG units share: quantisation and Huffman tables (TIFF Technical Note 2).
  let jpegTables: [UInt8]
  /// The chroma sampling of the JPEG data, in the numbers of TurboJPEG, which each unit must have: that of the first one,
  /// see `TIFFAbility`. Nil until it is known.
  var sampling: Int32?
  /// Damage of the file, as it is noticed.
  let log = DamageLog()

  /// The largest unit that is held in memory decoded, one per thread.
  private static let largestUnit = 1 << 26

  init(path: String, tileSize: Int) throws(BuildError) {
    let handle = try TIFFHandle(path: path)
    self.path = path
    guard let width = handle.long(TIFFTAG_IMAGEWIDTH), let height = handle.long(TIFFTAG_IMAGELENGTH),
      width > 0, height > 0
    else { throw handle.refused("the TIFF has no size") }
    self.width = width
    self.height = height
    isTiled = handle.isTiled
    if isTiled {
      unitWidth = handle.long(TIFFTAG_TILEWIDTH) ?? 0
      unitHeight = handle.long(TIFFTAG_TILELENGTH) ?? 0
    } else {
      unitWidth = width
      unitHeight = min(handle.long(TIFFTAG_ROWSPERSTRIP) ?? height, height)
    }
    let bands = handle.short(TIFFTAG_SAMPLESPERPIXEL)
    self.bands = bands
    let compression = handle.short(TIFFTAG_COMPRESSION)
    let photometric = handle.photometric ?? Int(PHOTOMETRIC_MINISBLACK)
    let isJPEG = compression == COMPRESSION_JPEG
    self.isJPEG = isJPEG
    isDeflated = [COMPRESSION_DEFLATE, COMPRESSION_ADOBE_DEFLATE].contains(Int32(compression))
    isPredicted = isDeflated && handle.short(TIFFTAG_PREDICTOR) == PREDICTOR_HORIZONTAL
    jpegTables = isJPEG ? handle.bytes(TIFFTAG_JPEGTABLES) : []
    isStored = compression == COMPRESSION_NONE
    let isYCbCrUnderRGB =
      isJPEG && photometric == PHOTOMETRIC_RGB && bands == 3
      && Int32(handle.short(TIFFTAG_PLANARCONFIG)) == PLANARCONFIG_CONTIG && handle.hasJFIFData
    self.isYCbCrUnderRGB = isYCbCrUnderRGB
    isYCbCr = isJPEG && photometric == PHOTOMETRIC_YCBCR || isYCbCrUnderRGB
    missingCount = (0..<handle.unitCount).count(where: handle.isMissing)
    obstacle =
      Self.obstacle(handle, photometric, compression, bands, isYCbCr: isYCbCr)
      ?? Self.obstacle(unitWidth, unitHeight, bands, tileSize: tileSize)
    guard obstacle == nil else {
      columns = 0
      rows = 0
      return
    }
    columns = (width + unitWidth - 1) / unitWidth
    rows = (height + unitHeight - 1) / unitHeight
    let count = handle.unitCount
    let expected = columns.multipliedReportingOverflow(by: rows)
    guard !expected.overflow, count == expected.partialValue else {
      throw handle.refused("the TIFF names \(count) pieces, its size asks for \(columns) × \(rows)")
    }
  }

  private static func obstacle(
    _ handle: TIFFHandle, _ photometric: Int, _ compression: Int, _ bands: Int, isYCbCr: Bool
  ) -> String? {
    let format = handle.short(TIFFTAG_SAMPLEFORMAT)
    if Int32(format) == SAMPLEFORMAT_IEEEFP { return "its floating-point samples" }
    let bits = handle.short(TIFFTAG_BITSPERSAMPLE)
    if bits != 8 { return "its \(bits) \(bits == 1 ? "bit" : "bits") a channel" }
    if Int32(format) != SAMPLEFORMAT_UINT { return "its signed samples" }
    let names = [
      PHOTOMETRIC_PALETTE: "its palette", PHOTOMETRIC_SEPARATED: "its CMYK",
      PHOTOMETRIC_CIELAB: "its Lab colours",
      PHOTOMETRIC_MINISWHITE: "its inverted gray",
    ]
    if let name = names[Int32(photometric)] { return name }
    guard bands == 3 || (bands == 1 && !isYCbCr) else { return "its \(bands) channels" }
    let wanted = bands == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB
    guard isYCbCr || Int32(photometric) == wanted else { return "its colours (photometric \(photometric))" }
    let compressions = [
      COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_DEFLATE, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_JPEG,
    ]
    guard compressions.contains(Int32(compression)) else { return "its compression (\(compression))" }
    if bands > 1, Int32(handle.short(TIFFTAG_PLANARCONFIG)) != PLANARCONFIG_CONTIG {
      return "its separate planes"
    }
    return Int32(handle.short(TIFFTAG_FILLORDER)) == FILLORDER_MSB2LSB ? nil : "its order of bits"
  }

  private static func obstacle(_ width: Int, _ height: Int, _ bands: Int, tileSize: Int) -> String? {
    guard width > 0, height > 0 else { return "its tiles of no size" }
    return height <= 2 * tileSize && width <= largestUnit / (height * bands)
      ? nil : "its strips or tiles of \(width) × \(height), too large to be decoded by themselves"
  }

  /// What was decided of the samples, a clause each.
  var notes: [String] {
    var notes: [String] = []
    if missingCount > 0 {
      let units = isTiled ? "tiles" : "strips"
      notes.append("\(missingCount) of \(columns * rows) \(units) are not stored: their samples are 0")
    }
    if isYCbCrUnderRGB { notes.append("its JPEG data are YCbCr, though its tag says RGB") }
    return notes
  }

  /// The part of a unit that lies within the image.
  func visible(_ unit: Int) -> (width: Int, height: Int) {
    (
      min(unitWidth, width - unit % columns * unitWidth),
      min(unitHeight, height - unit / columns * unitHeight)
    )
  }

  /// Pixel rows that unit `unit` holds; tiles are whole even where they reach over the image's edge.
  func height(ofUnit unit: Int) -> Int {
    isTiled ? unitHeight : min(unitHeight, height - unit / columns * unitHeight)
  }
}

import CTIFF

/// What the first image of a TIFF file is made of: tiles, or strips, which count as tiles of the
/// image's width.
struct TIFFFile {
  let path: String
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
  /// What all JPEG units share: quantisation and Huffman tables (TIFF Technical Note 2).
  let jpegTables: [UInt8]

  /// The largest unit that is held in memory decoded, one per thread.
  private static let largestUnit = 1 << 26

  /// Nil where pixels are not 8-bit gray or RGB side by side in a compression that is read here, or where
  /// units are so large that decoding them by themselves costs memory or time.
  init?(path: String, tileSize: Int) throws(BuildError) {
    let handle = try TIFFHandle(path: path)
    self.path = path
    guard let width = handle.long(TIFFTAG_IMAGEWIDTH), let height = handle.long(TIFFTAG_IMAGELENGTH),
      width > 0, height > 0
    else { throw handle.refused("the TIFF has no size") }
    (self.width, self.height) = (width, height)
    isTiled = TIFFIsTiled(handle.pointer) != 0
    if isTiled {
      unitWidth = handle.long(TIFFTAG_TILEWIDTH) ?? 0
      unitHeight = handle.long(TIFFTAG_TILELENGTH) ?? 0
    } else {
      unitWidth = width
      unitHeight = min(handle.long(TIFFTAG_ROWSPERSTRIP) ?? height, height)
    }
    bands = handle.short(TIFFTAG_SAMPLESPERPIXEL)
    let compression = handle.short(TIFFTAG_COMPRESSION)
    let photometric = handle.short(TIFFTAG_PHOTOMETRIC)
    isJPEG = compression == COMPRESSION_JPEG
    isDeflated = [COMPRESSION_DEFLATE, COMPRESSION_ADOBE_DEFLATE].contains(Int32(compression))
    isPredicted = isDeflated && handle.short(TIFFTAG_PREDICTOR) == PREDICTOR_HORIZONTAL
    jpegTables = isJPEG ? handle.bytes(TIFFTAG_JPEGTABLES) : []
    let compressions = [
      COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_DEFLATE, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_JPEG,
    ]
    isYCbCr = isJPEG && photometric == PHOTOMETRIC_YCBCR
    let wanted = bands == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB
    guard unitWidth > 0, unitHeight > 0, bands == 3 || (bands == 1 && !isYCbCr),
      isYCbCr || photometric == wanted,
      compressions.contains(Int32(compression)), handle.short(TIFFTAG_BITSPERSAMPLE) == 8,
      handle.short(TIFFTAG_SAMPLEFORMAT) == SAMPLEFORMAT_UINT,
      bands == 1 || handle.short(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_CONTIG,
      handle.short(TIFFTAG_FILLORDER) == FILLORDER_MSB2LSB, unitHeight <= 2 * tileSize,
      unitWidth <= Self.largestUnit / (unitHeight * bands)
    else { return nil }
    columns = (width + unitWidth - 1) / unitWidth
    rows = (height + unitHeight - 1) / unitHeight
    let count = isTiled ? TIFFNumberOfTiles(handle.pointer) : TIFFNumberOfStrips(handle.pointer)
    guard Int(count) == columns * rows else {
      throw handle.refused("the TIFF names \(count) pieces, its size asks for \(columns * rows)")
    }
  }

  /// Pixel rows that unit `unit` holds; tiles are whole even where they reach over the image's edge.
  func height(ofUnit unit: Int) -> Int {
    isTiled ? unitHeight : min(unitHeight, height - unit / columns * unitHeight)
  }
}

import ZigguratCTIFF

/// The first image of a TIFF file, which consists of tiles, or of strips that count as tiles of the image's width.
struct TIFFFile {
  let path: String
  let tags: TIFFTags
  /// The reason why it is not read here, as a noun phrase; `nil` if it is: 8-bit gray or RGB side by side in a common
  /// compression, in units that are small enough to be decoded by themselves.
  let obstacle: String?
  /// Whether samples are stored as differences.
  let isPredicted: Bool
  /// Whether it is JPEG of YCbCr; otherwise it is of the bands themselves.
  let isYCbCr: Bool
  /// The quantisation and Huffman tables that all JPEG units share (TIFF Technical Note 2).
  let jpegTables: [UInt8]
  /// The chroma sampling of the JPEG data, in the numbers of TurboJPEG, which each unit must have: that of the first
  /// one, see `TIFFAbility`. Nil until it is known.
  var sampling: Int32?
  /// Damage of the file found so far.
  let log = DamageLog()

  var width: Int { tags.width }
  var height: Int { tags.height }
  /// 1 gray, 3 RGB.
  var bands: Int { tags.samples }
  var isTiled: Bool { tags.isTiled }
  var chunkWidth: Int { tags.chunkWidth }
  var chunkHeight: Int { tags.chunkHeight }
  /// Units in a row of them.
  var columns: Int { tags.columns }
  var rows: Int { tags.rows }
  var isJPEG: Bool { tags.compression == COMPRESSION_JPEG }
  var isDeflated: Bool { [COMPRESSION_DEFLATE, COMPRESSION_ADOBE_DEFLATE].contains(tags.compression) }
  /// Whether the data have no compression.
  var isStored: Bool { tags.compression == COMPRESSION_NONE }

  /// The largest unit that is held in memory decoded, one per thread.
  private static let maxUnitSize = 1 << 26

  init(path: String, tileSize: Int) throws(BuildError) {
    let handle = try TIFFHandle(path: path)
    guard let tags = TIFFTags.read(path: path, page: 0) else { throw handle.refused("the TIFF has no size") }
    self.path = path
    self.tags = tags
    isYCbCr =
      tags.compression == COMPRESSION_JPEG && tags.photometric == PHOTOMETRIC_YCBCR || tags.isYCbCrUnderRGB
    isPredicted = handle.short(TIFFTAG_PREDICTOR) == PREDICTOR_HORIZONTAL
    jpegTables = tags.compression == COMPRESSION_JPEG ? handle.bytes(TIFFTAG_JPEGTABLES) : []
    obstacle =
      Self.obstacle(handle, tags, isYCbCr: isYCbCr)
      ?? Self.obstacle(tags.chunkWidth, tags.chunkHeight, tags.samples, tileSize: tileSize)
    guard obstacle == nil else { return }
    let expected = columns.multipliedReportingOverflow(by: rows)
    guard !expected.overflow, tags.chunkCount == expected.partialValue else {
      throw handle.refused("the TIFF names \(tags.chunkCount) pieces, its size asks for \(columns) × \(rows)")
    }
  }

  private static func obstacle(
    _ handle: TIFFHandle, _ tags: TIFFTags, isYCbCr: Bool
  ) -> String? {
    let (bands, photometric, compression) = (tags.samples, tags.photometric, tags.compression)
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
    if let name = names[photometric] { return name }
    guard bands == 3 || (bands == 1 && !isYCbCr) else { return "its \(bands) channels" }
    let wanted = bands == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB
    guard isYCbCr || photometric == wanted else { return "its colours (photometric \(photometric))" }
    let compressions = [
      COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_DEFLATE, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_JPEG,
    ]
    guard compressions.contains(compression) else { return "its compression (\(compression))" }
    if bands > 1, Int32(handle.short(TIFFTAG_PLANARCONFIG)) != PLANARCONFIG_CONTIG {
      return "its separate planes"
    }
    return Int32(handle.short(TIFFTAG_FILLORDER)) == FILLORDER_MSB2LSB ? nil : "its order of bits"
  }

  private static func obstacle(_ width: Int, _ height: Int, _ bands: Int, tileSize: Int) -> String? {
    height <= 2 * tileSize && width <= maxUnitSize / (height * bands)
      ? nil : "its strips or tiles of \(width) × \(height), too large to be decoded by themselves"
  }

  /// The decisions about the samples, a clause each.
  var notes: [String] {
    [tags.missingNote, tags.colourNote].compactMap(\.self)
  }
}

import Synchronization
import ZigguratCTIFF
import ZigguratImaging

/// The tags of one image of a TIFF file that determine the meaning of its samples (TIFF 6.0).
struct TIFFTags {
  let width, height: Int
  let bits, samples: Int
  let photometric, compression, format: Int32
  let isSeparate, isTiled: Bool
  let chunkWidth, chunkHeight: Int
  /// Tiles, or strips, of all planes, and how many of them the file does not hold.
  let chunkCount, missingCount: Int
  /// Whether an uncompressed tile or strip is shorter than its pixels.
  let hasShortUnits: Bool
  /// JPEG data that are YCbCr by their own marker, while the tag says RGB.
  let isYCbCrUnderRGB: Bool
  /// Whether JPEG tiles at the image's edge have no pixels beyond it, against TIFF Technical Note 2.
  let hasCroppedTiles: Bool
  /// The kind of each sample beyond the colours'.
  let extra: [Int]
  /// The inks of separated colours; 1 is cyan, magenta, yellow and black.
  let inkSet: Int
  /// Whether the file says nothing of its samples beyond the colours'.
  private let lacksExtraSamples: Bool
  /// Whether the file has no photometric tag, and whether nothing can be assumed instead.
  let lacksPhotometric: Bool
  private let isPhotometricUnknown: Bool
  /// Why libjpeg cannot decode the file's JPEG data, as a predicate about them; `nil` if it can.
  private let jpegObstacle: String?

  private struct Known {
    let file: FileVersion
    var pages: [Int: TIFFTags] = [:]
  }

  private static let known = Mutex<Known?>(nil)
  private static let maxKnown = 256

  /// The name of a tile or strip in messages, counted from 1.
  func name(ofUnit unit: Int) -> String { "\(isTiled ? "tile" : "strip") \(unit + 1) of \(chunkCount)" }

  /// The tags of an image of a file, which are remembered of the last file unless it was written to since; nil if
  /// libtiff cannot read them.
  ///
  /// - Parameter page: counted from 0.
  static func read(path: String, page: Int) -> TIFFTags? {
    let file = FileVersion(path)
    if let tags = known.withLock({ $0?.file == file ? $0?.pages[page] : nil }) { return tags }
    guard let handle = try? TIFFHandle(path: path, page: page), let tags = TIFFTags(handle) else {
      return nil
    }
    guard let file else { return tags }
    known.withLock { known in
      if known?.file != file { known = Known(file: file) }
      if (known?.pages.count ?? 0) < maxKnown { known?.pages[page] = tags }
    }
    return tags
  }

  /// `nil` if the image has no size.
  init?(_ handle: TIFFHandle) {
    guard let width = handle.long(TIFFTAG_IMAGEWIDTH), let height = handle.long(TIFFTAG_IMAGELENGTH),
      width > 0, height > 0
    else { return nil }
    self.width = width
    self.height = height
    let samples = handle.short(TIFFTAG_SAMPLESPERPIXEL)
    let known = handle.photometric
    lacksPhotometric = handle.stated(TIFFTAG_PHOTOMETRIC) == nil
    isPhotometricUnknown = known == nil
    let photometric = known.map(Int32.init) ?? PHOTOMETRIC_MINISBLACK
    let compression = Int32(handle.short(TIFFTAG_COMPRESSION))
    self.samples = samples
    self.photometric = photometric
    self.compression = compression
    // The tags describe the logarithms that are stored; libtiff decodes them to floats.
    let isLuminance = Self.isLuminance(photometric, compression)
    bits = isLuminance ? 32 : handle.short(TIFFTAG_BITSPERSAMPLE)
    let format = isLuminance ? SAMPLEFORMAT_IEEEFP : Int32(handle.short(TIFFTAG_SAMPLEFORMAT))
    self.format = format == SAMPLEFORMAT_VOID || format == 0 ? SAMPLEFORMAT_UINT : format
    let isContiguous = samples == 1 || Int32(handle.short(TIFFTAG_PLANARCONFIG)) == PLANARCONFIG_CONTIG
    isSeparate = !isContiguous
    isTiled = handle.isTiled
    let rows = handle.long(TIFFTAG_ROWSPERSTRIP) ?? height
    chunkWidth = isTiled ? handle.long(TIFFTAG_TILEWIDTH) ?? 0 : width
    chunkHeight = isTiled ? handle.long(TIFFTAG_TILELENGTH) ?? 0 : min(rows, height)
    guard chunkWidth > 0, chunkHeight > 0 else { return nil }
    let units = 0..<handle.chunkCount
    chunkCount = units.count
    missingCount = units.count(where: handle.isMissing)
    let (given, count) = (handle.extraSamples, max(0, samples - Self.colours(photometric)))
    extra = Array((given + [Int](repeating: 0, count: max(0, count - given.count))).suffix(count))
    lacksExtraSamples = given.isEmpty || handle.lacksExtraSamples
    inkSet = handle.short(TIFFTAG_INKSET)
    jpegObstacle = compression == COMPRESSION_JPEG ? handle.jpegObstacle : nil
    hasCroppedTiles = compression == COMPRESSION_JPEG && handle.hasCroppedTiles
    hasShortUnits =
      compression == COMPRESSION_NONE
      && units.contains { !handle.isMissing($0) && handle.storedSize($0) < handle.size(ofUnit: $0) }
    isYCbCrUnderRGB =
      compression == COMPRESSION_JPEG && photometric == PHOTOMETRIC_RGB && samples == 3 && isContiguous
      && handle.hasJFIFData
  }

  /// Units in a row of them, and rows of them, in one plane.
  var columns: Int { (width + chunkWidth - 1) / chunkWidth }
  var rows: Int { (height + chunkHeight - 1) / chunkHeight }

  /// Rows that a tile or strip has, of those that are stored.
  func rows(ofUnit unit: Int) -> Int {
    isTiled ? chunkHeight : min(chunkHeight, height - unit % (columns * rows) / columns * chunkHeight)
  }

  /// Returns the size of the part of a tile or strip that lies within the image.
  func visible(_ unit: Int) -> (width: Int, height: Int) {
    let inPlane = unit % (columns * rows)
    return (
      min(chunkWidth, width - inPlane % columns * chunkWidth),
      min(chunkHeight, height - inPlane / columns * chunkHeight)
    )
  }

  /// Samples of a plane's pixel.
  var samplesInPlane: Int { isSeparate ? 1 : samples }

  /// Bands of the picture that the samples make: an index of a palette becomes three.
  var pictureBands: Int { photometric == PHOTOMETRIC_PALETTE ? samples + 2 : samples }

  /// Samples of a pixel's colour.
  private static func colours(_ photometric: Int32) -> Int {
    switch photometric {
    case PHOTOMETRIC_RGB, PHOTOMETRIC_YCBCR, PHOTOMETRIC_CIELAB, PHOTOMETRIC_ICCLAB, PHOTOMETRIC_ITULAB: 3
    case PHOTOMETRIC_SEPARATED: 4
    default: 1
    }
  }

  /// Whether the samples are logarithms of luminance (LogL of SGI, libtiff's `tif_luv.c`), which are decoded to linear
  /// light.
  var isLuminance: Bool { Self.isLuminance(photometric, compression) }

  private static func isLuminance(_ photometric: Int32, _ compression: Int32) -> Bool {
    photometric == PHOTOMETRIC_LOGL && compression == COMPRESSION_SGILOG
  }

  var isGray: Bool { photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE }

  /// Alpha of the two kinds of TIFF 6.0.
  enum Alpha { case associated, unassociated }

  /// The samples that make up the picture.
  struct Choice {
    /// The samples of the colours, then alpha's, counted from 0.
    var samples: [Int]
    var alpha: Alpha?
    /// The decisions, a clause each.
    var notes: [String] = []
  }

  /// `nil` if the meaning is unknown: the photometric tag is unusual, or the file has so many gray samples that the
  /// user must choose among them.
  var choice: Choice? {
    let known = [
      PHOTOMETRIC_MINISBLACK, PHOTOMETRIC_MINISWHITE, PHOTOMETRIC_RGB, PHOTOMETRIC_SEPARATED,
      PHOTOMETRIC_CIELAB, PHOTOMETRIC_ICCLAB, PHOTOMETRIC_ITULAB, PHOTOMETRIC_PALETTE,
    ]
    let samples = pictureBands
    var colours = photometric == PHOTOMETRIC_PALETTE ? 3 : Self.colours(photometric)
    guard known.contains(photometric), samples >= colours, extra.count == samples - colours else {
      return nil
    }
    var alpha: (sample: Int, kind: Alpha)?
    for (index, kind) in extra.enumerated() where alpha == nil {
      switch kind {
      case Int(EXTRASAMPLE_ASSOCALPHA): alpha = (colours + index, .associated)
      // CorelDRAW writes 999.
      case Int(EXTRASAMPLE_UNASSALPHA), 999: alpha = (colours + index, .unassociated)
      default: break
      }
    }
    var notes: [String] = []
    if alpha == nil, lacksExtraSamples, photometric == PHOTOMETRIC_RGB, samples == 4 {
      // Older writers of RGBA did not know the tag; Pillow reads them so, too.
      alpha = (3, .unassociated)
    }
    let planes = samples - (alpha == nil ? 0 : 1)
    if photometric == PHOTOMETRIC_MINISBLACK, planes == 3, bits == 8, format == SAMPLEFORMAT_UINT,
      alpha.map({ $0.sample == 3 }) ?? true
    {
      colours = 3
      notes.append("its 3 bands of gray taken as red, green and blue")
    }
    // An index of a palette is multiplied by nothing.
    if photometric == PHOTOMETRIC_PALETTE { alpha?.kind = .unassociated }
    if isGray, colours == 1, samples > 4 { return nil }
    let chosen = Array(0..<colours) + (alpha.map { [$0.sample] } ?? [])
    let dropped = (0..<samples).filter { !chosen.contains($0) }.map { String($0 + 1) }
    if !dropped.isEmpty {
      let names = dropped.joined(separator: ", ")
      notes.append(
        dropped.count == 1
          ? "band \(names) left out: neither colour nor alpha (--bands takes it)"
          : "bands \(names) left out: neither colour nor alpha (--bands takes them)")
    }
    return Choice(samples: chosen, alpha: alpha?.kind, notes: notes)
  }

  /// The tiles or strips that the file does not hold, as a clause; nil if it holds all.
  var missingNote: String? {
    guard missingCount > 0 else { return nil }
    return
      "\(missingCount) of \(chunkCount) \(isTiled ? "tiles" : "strips") are not stored: their samples are 0"
  }

  /// The decision about colours that contradict their tag, as a clause; `nil` if there was none.
  var colourNote: String? {
    isYCbCrUnderRGB ? "its JPEG data are YCbCr, though its tag says RGB" : nil
  }

  /// Why no picture can be made of the image, with the tag that says so; nil if one can.
  ///
  /// - Parameter keepsBands: whether the caller chooses bands, whatever they are.
  func refusal(keepsBands: Bool) -> String? {
    for (side, tag) in [(width, "ImageWidth"), (height, "ImageLength")] where side > Image.maxDimension {
      return "its \(tag) of \(side) is more than \(Image.maxDimension) pixels, the most that are read"
    }
    if isPhotometricUnknown, !keepsBands {
      return
        "its \(samples) samples cannot be interpreted: it has no PhotometricInterpretation (--bands takes one or three)"
    }
    if let jpegObstacle {
      return
        "its JPEG data \(jpegObstacle), which is not read: write it with another compression, for example with "
        + "gdal_translate -co COMPRESS=LZW"
    }
    if format == SAMPLEFORMAT_COMPLEXINT || format == SAMPLEFORMAT_COMPLEXIEEEFP {
      return
        "its complex samples (SampleFormat \(format)) are not read: write their real parts, for example with "
        + "gdal_translate -ot Float32"
    }
    if TIFFSampleCoding(format: format, bits: bits) == nil {
      return "its samples of \(bits) bits (BitsPerSample \(bits), SampleFormat \(format)) are not read"
    }
    if photometric == PHOTOMETRIC_SEPARATED {
      if format == SAMPLEFORMAT_INT { return "its signed CMYK samples (SampleFormat \(format)) are not read" }
      if !keepsBands, inkSet != INKSET_CMYK {
        return
          "its separated colours are no CMYK (InkSet \(inkSet)) and are not read; --bands takes one or three"
      }
    }
    let isLog =
      [PHOTOMETRIC_LOGL, PHOTOMETRIC_LOGLUV].contains(photometric)
      && [COMPRESSION_SGILOG, COMPRESSION_SGILOG24].contains(compression)
    if !isLog, ![0, 1, 2, 3, 4, 5, 6, 8, 9, 10].contains(photometric) {
      return "its \(photometricName) are not read"
    }
    if !isDecodable {
      return "its compression (\(compressionName)) is not read: write it with another one, for example with "
        + "gdal_translate -co COMPRESS=LZW"
    }
    return nil
  }

  /// Whether there is a decoder of the compression.
  private var isDecodable: Bool {
    isJPEG2000 || isJPEGXL || TIFFIsCODECConfigured(UInt16(clamping: compression)) != 0
  }

  /// Aperio's two, libvips' and the one that GDAL and others write.
  var isJPEG2000: Bool { [33003, 33004, 33005, 34712].contains(compression) }
  var isJPEGXL: Bool { [50002, 52546].contains(compression) }

  /// Whether units hold files of another format, which libtiff does not decode.
  var isCodedApart: Bool { isJPEG2000 || isJPEGXL }

  /// Whether the last strip may be encoded with as many rows as the others, which libtiff refuses of WebP.
  var mayHaveFullLastStrip: Bool { compression == COMPRESSION_WEBP && !isTiled && height % chunkHeight != 0 }

  /// The compression tag with its name and value.
  var compressionName: String {
    let names = [
      COMPRESSION_JBIG: "JBIG", COMPRESSION_THUNDERSCAN: "ThunderScan", COMPRESSION_NEXT: "NeXT",
      COMPRESSION_PIXARLOG: "PixarLog", COMPRESSION_LERC: "LERC", COMPRESSION_LZMA: "LZMA",
      COMPRESSION_ZSTD: "Zstandard", COMPRESSION_WEBP: "WebP", 34933: "PNG", 34892: "lossy JPEG of DNG",
      22610: "JPEG XR", 34934: "JPEG XR", 34735: "RRPC",
    ]
    return (names[compression].map { "\($0), " } ?? "") + "Compression \(compression)"
  }

  /// The photometric tag with its name and value.
  var photometricName: String {
    let names = [
      PHOTOMETRIC_YCBCR: "YCbCr", PHOTOMETRIC_ICCLAB: "ICCLab", PHOTOMETRIC_ITULAB: "ITULab",
      PHOTOMETRIC_CIELAB: "CIELab", PHOTOMETRIC_RGB: "RGB", PHOTOMETRIC_PALETTE: "palette",
      PHOTOMETRIC_SEPARATED: "CMYK", PHOTOMETRIC_MASK: "mask",
    ]
    return (names[photometric] ?? "colours") + " (PhotometricInterpretation \(photometric))"
  }
}

extension TIFFHandle {
  /// Why libjpeg cannot decode the JPEG data; see `JPEGHeader.obstacle`.
  fileprivate var jpegObstacle: String? {
    guard let unit = (0..<chunkCount).first(where: { !isMissing($0) }) else { return nil }
    return start(ofUnit: unit, count: 1 << 16).flatMap(JPEGHeader.obstacle)
  }

  /// Whether the JPEG data of a tile at the image's edge have a size of their own.
  fileprivate var hasCroppedTiles: Bool {
    guard isTiled, let width = long(TIFFTAG_IMAGEWIDTH), let height = long(TIFFTAG_IMAGELENGTH),
      let side = long(TIFFTAG_TILEWIDTH), let rows = long(TIFFTAG_TILELENGTH), side > 0, rows > 0
    else { return false }
    let (columns, count) = ((width + side - 1) / side, (height + rows - 1) / rows)
    // libtiff counts none if there are too many.
    guard chunkCount > 0 else { return false }
    // The last of the first plane, and where the file does not hold it, one beside it.
    let corner = [columns * count - 1, columns * max(1, count - 1) - 1, columns * (count - 1)]
    guard width % side != 0 || height % rows != 0,
      let unit = corner.first(where: { 0..<chunkCount ~= $0 && !isMissing($0) }),
      let size = start(ofUnit: unit, count: 1 << 16).flatMap(JPEGHeader.size)
    else { return false }
    return size.width < side || size.height < rows
  }

  /// Bytes of a tile or strip of this image without compression.
  func size(ofUnit unit: Int) -> UInt64 {
    if isTiled { return UInt64(TIFFTileSize64(pointer)) }
    let height = long(TIFFTAG_IMAGELENGTH) ?? 0
    let rows = max(1, min(long(TIFFTAG_ROWSPERSTRIP) ?? height, height))
    let perPlane = (height + rows - 1) / rows
    let left = height - unit % max(1, perPlane) * rows
    return UInt64(TIFFVStripSize64(pointer, UInt32(min(rows, max(0, left)))))
  }
}

import CTIFF

/// The tags of one image of a TIFF file that decide what its samples mean (TIFF 6.0).
struct TIFFTags {
  let width, height: Int
  let bits, samples: Int
  let photometric, compression, format: Int32
  let isSeparate, isTiled: Bool
  let unitWidth, unitHeight: Int
  /// Tiles, or strips, of all planes, and how many of them the file does not hold.
  let unitCount, missingCount: Int
  /// Whether an uncompressed tile or strip is shorter than its pixels.
  let hasShortUnits: Bool
  /// JPEG data that are YCbCr by their own marker, while the tag says RGB.
  let isYCbCrUnderRGB: Bool
  /// What each sample beyond the colours' is, one for each.
  let extra: [Int]
  /// Whether the file says nothing of its samples beyond the colours'.
  private let lacksExtraSamples: Bool

  /// `nil` if the image has no size.
  init?(_ handle: TIFFHandle) {
    guard let width = handle.long(TIFFTAG_IMAGEWIDTH), let height = handle.long(TIFFTAG_IMAGELENGTH),
      width > 0, height > 0
    else { return nil }
    (self.width, self.height) = (width, height)
    bits = handle.short(TIFFTAG_BITSPERSAMPLE)
    let samples = handle.short(TIFFTAG_SAMPLESPERPIXEL)
    let photometric = Int32(handle.short(TIFFTAG_PHOTOMETRIC))
    let compression = Int32(handle.short(TIFFTAG_COMPRESSION))
    (self.samples, self.photometric, self.compression) = (samples, photometric, compression)
    let format = Int32(handle.short(TIFFTAG_SAMPLEFORMAT))
    self.format = format == SAMPLEFORMAT_VOID ? SAMPLEFORMAT_UINT : format
    let isContiguous = samples == 1 || Int32(handle.short(TIFFTAG_PLANARCONFIG)) == PLANARCONFIG_CONTIG
    isSeparate = !isContiguous
    isTiled = handle.isTiled
    let rows = handle.long(TIFFTAG_ROWSPERSTRIP) ?? height
    unitWidth = isTiled ? handle.long(TIFFTAG_TILEWIDTH) ?? 0 : width
    unitHeight = isTiled ? handle.long(TIFFTAG_TILELENGTH) ?? 0 : min(rows, height)
    guard unitWidth > 0, unitHeight > 0 else { return nil }
    let units = 0..<handle.unitCount
    unitCount = units.count
    missingCount = units.count(where: handle.isMissing)
    let (given, count) = (handle.extraSamples, max(0, samples - Self.colours(photometric)))
    extra = Array((given + [Int](repeating: 0, count: max(0, count - given.count))).suffix(count))
    lacksExtraSamples = given.isEmpty || handle.lacksExtraSamples
    hasShortUnits =
      compression == COMPRESSION_NONE
      && units.contains { !handle.isMissing($0) && handle.storedSize($0) < handle.size(ofUnit: $0) }
    isYCbCrUnderRGB =
      compression == COMPRESSION_JPEG && photometric == PHOTOMETRIC_RGB && samples == 3 && isContiguous
      && handle.hasJFIFData
  }

  /// Units in a row of them, and rows of them, in one plane.
  var columns: Int { (width + unitWidth - 1) / unitWidth }
  var rows: Int { (height + unitHeight - 1) / unitHeight }

  /// Samples of a pixel's colour.
  private static func colours(_ photometric: Int32) -> Int {
    switch photometric {
    case PHOTOMETRIC_RGB, PHOTOMETRIC_YCBCR, PHOTOMETRIC_CIELAB, PHOTOMETRIC_ICCLAB, PHOTOMETRIC_ITULAB: 3
    case PHOTOMETRIC_SEPARATED: 4
    default: 1
    }
  }

  var isGray: Bool { photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE }

  /// Alpha of the two kinds of TIFF 6.0.
  enum Alpha { case associated, unassociated }

  /// The samples that make up the picture.
  struct Choice {
    /// Those of the colours, then alpha's, counted from 0.
    var samples: [Int]
    var alpha: Alpha?
    /// What was decided, a clause each.
    var notes: [String] = []
  }

  /// `nil` if nothing can be said: the photometric tag is unusual, or the file has so many gray samples that somebody has
  /// to choose among them.
  var choice: Choice? {
    let known = [
      PHOTOMETRIC_MINISBLACK, PHOTOMETRIC_MINISWHITE, PHOTOMETRIC_RGB, PHOTOMETRIC_SEPARATED,
      PHOTOMETRIC_CIELAB, PHOTOMETRIC_ICCLAB,
    ]
    var colours = Self.colours(photometric)
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

  /// What the file does not hold, as a clause; nil if it holds everything.
  var missingNote: String? {
    guard missingCount > 0 else { return nil }
    return
      "\(missingCount) of \(unitCount) \(isTiled ? "tiles" : "strips") are not stored: their samples are 0"
  }

  /// The photometric tag with its name and value.
  var photometricName: String {
    let names = [
      PHOTOMETRIC_YCBCR: "YCbCr", PHOTOMETRIC_ICCLAB: "ICCLab", PHOTOMETRIC_ITULAB: "ITULab",
      PHOTOMETRIC_CIELAB: "CIELab", PHOTOMETRIC_RGB: "RGB", PHOTOMETRIC_PALETTE: "palette",
      PHOTOMETRIC_SEPARATED: "CMYK",
    ]
    return (names[photometric] ?? "colours") + " (PhotometricInterpretation \(photometric))"
  }
}

extension TIFFHandle {
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

import ZigguratCTIFF
import ZigguratCTurboJPEG
import ZigguratImaging

/// Decodes single tiles or strips of a TIFF file. One per thread; its memory is used again.
final class TIFFUnitReader {
  let file: TIFFFile
  private let handle: TIFFHandle
  private let decoder: JPEGDecompressor?
  private let inflater: TIFFInflater?
  private let kept = KeptBytes()
  private var bytes: UnsafeMutableRawBufferPointer { kept.memory }
  private let identifier: [UInt8]

  /// No more than a unit of the largest size takes uncompressed, and some.
  private static let largestRead = 1 << 27

  init(_ file: TIFFFile) throws(BuildError) {
    self.file = file
    handle = try TIFFHandle(path: file.path)
    decoder = file.isJPEG ? try JPEGDecompressor(file.path) : nil
    inflater = file.isDeflated ? TIFFInflater(isPredicted: file.isPredicted, bands: file.bands) : nil
    identifier = JPEGStart.bytes(
      tables: file.jpegTables, file.bands == 1 || file.isYCbCr ? .ycbcr : .stored)
  }

  /// Whether pixels were all there; damage inside a JPEG is mended as libjpeg can.
  enum Soundness { case sound, repaired }

  /// Gray or RGB pixels of a unit, all its columns and rows. A last strip may have as many rows as the others.
  func decode(
    _ unit: Int, to base: UnsafeMutablePointer<UInt8>, stride: Int
  ) throws(BuildError) {
    if file.isJPEG {
      _ = try decodeJPEG(unit, to: base, stride: stride)
      return
    }
    // What is damaged is left to libtiff, whose judgement and words count.
    if inflate(unit, to: base, stride: stride) { return }
    let size = file.unitWidth * file.tags.rows(ofUnit: unit) * file.bands
    if file.isStored { try handle.checkStoredSize(unit, named: name(unit), UInt64(size)) }
    kept.reserve(size)
    let count = handle.readDecoded(unit, to: bytes.baseAddress, count: size)
    guard count == size else { throw handle.refused("\(name(unit)) is damaged") }
    // libtiff reads no further than it needs, and not the checksum.
    if isInflatedInVain(unit) {
      file.log.add(.error, TIFFInflater.reason(name(unit)))
    }
    let rowSize = file.unitWidth * file.bands
    let source = bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
    for y in 0..<file.tags.rows(ofUnit: unit) {
      (base + y * stride).update(from: source + y * rowSize, count: rowSize)
    }
  }

  /// The same of a JPEG unit, with its bytes as they stand by themselves, valid until the next call.
  func decodeJPEG(
    _ unit: Int, to base: UnsafeMutablePointer<UInt8>, stride: Int
  ) throws(BuildError) -> (Soundness, UnsafeRawBufferPointer) {
    let (data, width, height, _) = try sizedJPEG(unit)
    let soundness = try check(
      unit,
      tjDecompress2(
        decoder?.handle, data.baseAddress, UInt(data.count), base, Int32(width), Int32(stride), Int32(height),
        Int32((file.bands == 1 ? TJPF_GRAY : TJPF_RGB).rawValue),
        TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS))
    return (soundness, UnsafeRawBufferPointer(data))
  }

  /// - Returns: false where the unit is not deflated, or not soundly.
  private func inflate(_ unit: Int, to base: UnsafeMutablePointer<UInt8>, stride: Int) -> Bool {
    let stored = handle.storedSize(unit)
    guard let inflater, (1...UInt64(Self.largestRead)).contains(stored) else { return false }
    let (rows, rowSize) = (file.tags.rows(ofUnit: unit), file.unitWidth * file.bands)
    let room = rows * rowSize + TIFFInflater.slack
    kept.reserve(room + Int(stored))
    let data = UnsafeMutableRawBufferPointer(rebasing: bytes[room..<(room + Int(stored))])
    guard handle.readStored(unit, to: data.baseAddress!, count: data.count) else { return false }
    return inflater.inflate(
      UnsafeRawBufferPointer(data), by: bytes.baseAddress!.assumingMemoryBound(to: UInt8.self), rows: rows,
      rowSize: rowSize, to: base, stride: stride)
  }

  /// Whether `inflate` has just found the unit damaged, of which libtiff made pixels nevertheless. Some writers fill up
  /// the last strip.
  private func isInflatedInVain(_ unit: Int) -> Bool {
    guard (1...UInt64(Self.largestRead)).contains(handle.storedSize(unit)) else { return false }
    switch inflater?.flaw {
    case .damage: return true
    case .length: return file.isTiled || file.tags.rows(ofUnit: unit) == file.unitHeight
    case nil: return false
    }
  }

  /// The first bytes of a unit as they are stored, at most `count`; nil where it has none, or they cannot be read.
  func start(ofUnit unit: Int, count: Int) -> [UInt8]? { handle.start(ofUnit: unit, count: count) }

  /// Whether the file holds nothing for a unit, as scanners do of glass with nothing on it.
  func isMissing(_ unit: Int) -> Bool { handle.isMissing(unit) }

  /// Pixels of a unit in planes of their own, or interleaved in the first; 0 if the file does not hold it.
  func decode(
    _ unit: Int, _ layout: PixelLayout, to planes: Planes
  ) throws(BuildError) {
    if isMissing(unit) { return clear(unit, layout, planes) }
    do throws(BuildError) {
      if layout == .planar420 {
        try decodePlanes(unit, to: planes)
      } else {
        try decode(unit, to: planes[0].base, stride: planes[0].stride)
      }
    } catch { try lose(unit, layout, planes, error) }
  }

  /// Makes a unit that cannot be decoded black, but for the rows that a file without compression has of it.
  func lose(
    _ unit: Int, _ layout: PixelLayout, _ planes: Planes, _ error: BuildError
  ) throws(BuildError) {
    clear(unit, layout, planes)
    guard file.isStored, layout != .planar420, handle.isCutOff(unit) else { return try lose(unit, error) }
    let (rows, rowSize) = (file.tags.rows(ofUnit: unit), file.unitWidth * file.bands)
    kept.reserve(rows * rowSize)
    let whole = handle.readPart(unit, to: bytes.baseAddress!, count: rows * rowSize) / rowSize
    guard whole > 0 else { return try lose(unit, error) }
    let source = bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
    for y in 0..<whole {
      (planes[0].base + y * planes[0].stride).update(from: source + y * rowSize, count: rowSize)
    }
    file.log.add(
      .truncated, "the TIFF file is cut off: \(rows - whole) of \(rows) rows of \(name(unit)) are missing")
  }

  /// Notes that a unit cannot be decoded.
  func lose(_ unit: Int, _ error: BuildError) throws(BuildError) {
    if error.isTemporary { throw error }
    file.log.add(lost: unit, handle.loss(of: unit, named: name(unit), error.reason))
  }

  /// Makes a unit black.
  private func clear(_ unit: Int, _ layout: PixelLayout, _ planes: Planes) {
    for index in 0..<layout.planeCount {
      let step = layout.subsampling(ofPlane: index)
      let count = (file.unitWidth + step - 1) / step * layout.bandsPerPlane
      for y in 0..<(file.tags.rows(ofUnit: unit) + step - 1) / step {
        // No difference of blue and red is the middle of their range.
        (planes[index].base + y * planes[index].stride).update(repeating: index == 0 ? 0 : 128, count: count)
      }
    }
  }

  /// Y, Cb, Cr of a unit as its JPEG has them. One that is not 4:2:0 is refused: its planes are larger.
  @discardableResult
  func decodePlanes(
    _ unit: Int, to planes: Planes
  ) throws(BuildError) -> (Soundness, UnsafeRawBufferPointer) {
    let (data, width, height, sampling) = try sizedJPEG(unit)
    guard sampling == TJSAMP_420.rawValue else {
      throw handle.refused("\(name(unit)) has another chroma sampling than 4:2:0")
    }
    var (bases, strides) = (planes.bases, planes.strides.map(Int32.init))
    let soundness = try check(
      unit,
      tjDecompressToYUVPlanes(
        decoder?.handle, data.baseAddress, UInt(data.count), &bases, Int32(width), &strides,
        Int32(height), TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS))
    return (soundness, UnsafeRawBufferPointer(data))
  }

  /// A unit's JPEG with the tables that it shares with others, so that it stands by itself. Valid until
  /// the next call.
  func jpeg(_ unit: Int) throws(BuildError) -> UnsafeMutableBufferPointer<UInt8> {
    let size = handle.storedSize(unit)
    guard (4...UInt64(Self.largestRead)).contains(size) else {
      throw handle.refused("\(name(unit)) says that it is \(size) bytes long")
    }
    // Read so that its own SOI comes where the last two bytes of the tables then go.
    let start = identifier.count - 2
    kept.reserve(start + Int(size))
    let base = bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
    guard handle.readStored(unit, to: base + start, count: Int(size)) else {
      throw handle.refused("\(name(unit)) cannot be read")
    }
    guard base[start] == 0xff, base[start + 1] == 0xd8 else {
      throw handle.refused("\(name(unit)) is not a JPEG")
    }
    base.update(from: identifier, count: identifier.count)
    return UnsafeMutableBufferPointer(start: base, count: start + Int(size))
  }

  /// `jpeg` of the unit's size, of the TIFF's colours and of the chroma sampling of all units.
  func completeJPEG(_ unit: Int) throws(BuildError) -> UnsafeMutableBufferPointer<UInt8> {
    try sizedJPEG(unit).data
  }

  /// The same with its size, which is the unit's, or that of the image's part of a tile at the edge. Some writers fill up
  /// the last strip.
  private func sizedJPEG(
    _ unit: Int
  ) throws(BuildError) -> (
    data: UnsafeMutableBufferPointer<UInt8>, width: Int, height: Int, sampling: Int32
  ) {
    let data = try jpeg(unit)
    let found = try header(of: data, unit)
    let inside = file.tags.visible(unit)
    guard inside.width...file.unitWidth ~= found.width,
      inside.height...file.unitHeight ~= found.height
    else {
      throw handle.refused(
        "\(name(unit)) is \(found.width) × \(found.height) pixels instead of \(file.unitWidth) × "
          + "\(file.tags.rows(ofUnit: unit))")
    }
    guard UInt32(found.colours) == colours else {
      throw handle.refused("\(name(unit)) has other colours than the TIFF says")
    }
    guard file.sampling == nil || found.sampling == file.sampling else {
      throw handle.refused("\(name(unit)) has another chroma sampling than the first one")
    }
    return (data, found.width, found.height, found.sampling)
  }

  /// The chroma sampling of a unit's JPEG, in the numbers of TurboJPEG.
  func sampling(ofUnit unit: Int) throws(BuildError) -> Int32 {
    try header(of: try jpeg(unit), unit).sampling
  }

  /// The colours inside JPEG by the TIFF's own field. libjpeg goes by the JPEG's markers, and some scanners write RGB
  /// under the numbers of YCbCr's components.
  private var colours: UInt32 {
    (file.bands == 1 ? TJCS_GRAY : file.isYCbCr ? TJCS_YCbCr : TJCS_RGB).rawValue
  }

  /// Whether the JPEG decoder would take a unit for the colours that the TIFF says it has.
  func hasStatedColours(_ unit: Int) throws(BuildError) -> Bool {
    let data = try jpeg(unit)
    return try UInt32(header(of: data, unit).colours) == colours
  }

  private func header(
    of data: UnsafeMutableBufferPointer<UInt8>, _ unit: Int
  ) throws(BuildError) -> (width: Int, height: Int, sampling: Int32, colours: Int32) {
    guard let header = decoder?.header(of: UnsafeRawBufferPointer(data)), header.sampling >= 0,
      header.colours >= 0
    else { throw refused(unit) }
    return header
  }

  /// A unit that ends early is refused; other damage leaves a picture, and is noted.
  @discardableResult
  private func check(_ unit: Int, _ code: Int32) throws(BuildError) -> Soundness {
    if code == 0 { return .sound }
    let warning = decoder?.message ?? ""
    guard tjGetErrorCode(decoder?.handle) == TJERR_WARNING.rawValue, !warning.contains("Premature end") else {
      throw refused(unit)
    }
    // Bytes behind the last pixel; see `jpeg_errors.c`.
    let isOfPixels = !warning.contains("extraneous bytes")
    file.log.add(
      isOfPixels ? .error : .warning,
      "the TIFF file \(isOfPixels ? "is damaged" : "has flaws"): \(name(unit)): \(warning)")
    return .repaired
  }

  private func refused(_ unit: Int) -> BuildError {
    BuildError(file.path, "\(name(unit)): \(decoder?.message ?? "")")
  }

  /// The name of a tile or strip in messages, counted from 1.
  func name(_ unit: Int) -> String { file.tags.name(ofUnit: unit) }
}

import ZigguratCTIFF
import ZigguratCTurboJPEG
import ZigguratImaging

/// Decodes single tiles or strips of a TIFF file. Each thread has one, whose memory is reused.
final class TIFFChunkReader {
  let file: TIFFFile
  private let handle: TIFFHandle
  private let decoder: JPEGDecompressor?
  private let inflater: TIFFInflater?
  private let kept = ReusableBuffer()
  private var bytes: UnsafeMutableRawBufferPointer { kept.memory }
  private let identifier: [UInt8]

  /// Maximum bytes of a read: slightly more than an uncompressed unit of maximum size.
  private static let maxReadSize = 1 << 27

  init(_ file: TIFFFile) throws(BuildError) {
    self.file = file
    handle = try TIFFHandle(path: file.path)
    decoder = file.isJPEG ? try JPEGDecompressor(file.path) : nil
    inflater = file.isDeflated ? TIFFInflater(isPredicted: file.isPredicted, bands: file.bands) : nil
    identifier = JPEGTablesHeader.bytes(
      tables: file.jpegTables, file.bands == 1 || file.isYCbCr ? .ycbcr : .stored)
  }

  /// Whether all pixels existed, or libjpeg concealed damage inside a JPEG.
  enum Soundness { case sound, repaired }

  /// Decodes gray or RGB pixels of a unit, in all its columns and rows. A last strip may have as many rows as the
  /// others.
  func decode(
    _ unit: Int, to base: UnsafeMutablePointer<UInt8>, stride: Int
  ) throws(BuildError) {
    if file.isJPEG {
      _ = try decodeJPEG(unit, to: base, stride: stride)
      return
    }
    // Damaged units are decoded by libtiff, for its result and its messages.
    if inflate(unit, to: base, stride: stride) { return }
    let size = file.chunkWidth * file.tags.rows(ofUnit: unit) * file.bands
    if file.isStored { try handle.checkStoredSize(unit, named: name(unit), UInt64(size)) }
    kept.reserve(size)
    let count = handle.readDecoded(unit, to: bytes.baseAddress, count: size)
    guard count == size else { throw handle.refused("\(name(unit)) is damaged") }
    // libtiff stops after the last pixel, and does not read the checksum.
    if isInflatedInVain(unit) {
      file.log.add(.error, TIFFInflater.reason(name(unit)))
    }
    let rowSize = file.chunkWidth * file.bands
    let source = bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
    for y in 0..<file.tags.rows(ofUnit: unit) {
      (base + y * stride).update(from: source + y * rowSize, count: rowSize)
    }
  }

  /// Decodes a JPEG unit, and returns its complete JPEG, valid until the next call.
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

  /// - Returns: false if the unit is not deflated, or is damaged.
  private func inflate(_ unit: Int, to base: UnsafeMutablePointer<UInt8>, stride: Int) -> Bool {
    let stored = handle.storedSize(unit)
    guard let inflater, (1...UInt64(Self.maxReadSize)).contains(stored) else { return false }
    let (rows, rowSize) = (file.tags.rows(ofUnit: unit), file.chunkWidth * file.bands)
    let room = rows * rowSize + TIFFInflater.slack
    kept.reserve(room + Int(stored))
    let data = UnsafeMutableRawBufferPointer(rebasing: bytes[room..<(room + Int(stored))])
    guard handle.readStored(unit, to: data.baseAddress!, count: data.count) else { return false }
    return inflater.inflate(
      UnsafeRawBufferPointer(data), by: bytes.baseAddress!.assumingMemoryBound(to: UInt8.self), rows: rows,
      rowSize: rowSize, to: base, stride: stride)
  }

  /// Whether `inflate` has just found the unit damaged, although libtiff decoded its pixels. Some writers pad the last
  /// strip.
  private func isInflatedInVain(_ unit: Int) -> Bool {
    guard (1...UInt64(Self.maxReadSize)).contains(handle.storedSize(unit)) else { return false }
    switch inflater?.flaw {
    case .damage: return true
    case .length: return file.isTiled || file.tags.rows(ofUnit: unit) == file.chunkHeight
    case nil: return false
    }
  }

  /// Returns the first stored bytes of a unit, at most `count`; nil if it is missing or cannot be read.
  func start(ofUnit unit: Int, count: Int) -> [UInt8]? { handle.start(ofUnit: unit, count: count) }

  /// Whether the file has no data for a unit, as scanners do for empty glass.
  func isMissing(_ unit: Int) -> Bool { handle.isMissing(unit) }

  /// Decodes a unit to separate planes, or interleaved to the first plane; 0 if it is missing.
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

  /// Makes a unit black that cannot be decoded, except for the rows that an uncompressed file contains.
  func lose(
    _ unit: Int, _ layout: PixelLayout, _ planes: Planes, _ error: BuildError
  ) throws(BuildError) {
    clear(unit, layout, planes)
    guard file.isStored, layout != .planar420, handle.isCutOff(unit) else { return try lose(unit, error) }
    let (rows, rowSize) = (file.tags.rows(ofUnit: unit), file.chunkWidth * file.bands)
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

  /// Records that a unit cannot be decoded.
  func lose(_ unit: Int, _ error: BuildError) throws(BuildError) {
    if error.isTemporary { throw error }
    file.log.add(lost: unit, handle.loss(of: unit, named: name(unit), error.reason))
  }

  /// Makes a unit black.
  private func clear(_ unit: Int, _ layout: PixelLayout, _ planes: Planes) {
    for index in 0..<layout.planeCount {
      let step = layout.subsampling(ofPlane: index)
      let count = (file.chunkWidth + step - 1) / step * layout.bandsPerPlane
      for y in 0..<(file.tags.rows(ofUnit: unit) + step - 1) / step {
        // The middle of the range of Cb and Cr means no colour.
        (planes[index].base + y * planes[index].stride).update(repeating: index == 0 ? 0 : 128, count: count)
      }
    }
  }

  /// Decodes Y, Cb, Cr of a unit without conversion. Throws an error if the unit is not 4:2:0, because its planes are
  /// larger.
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

  /// Returns a unit's JPEG with the tables that all units share, which makes it complete. It is valid until the next
  /// call.
  func jpeg(_ unit: Int) throws(BuildError) -> UnsafeMutableBufferPointer<UInt8> {
    let size = handle.storedSize(unit)
    guard (4...UInt64(Self.maxReadSize)).contains(size) else {
      throw handle.refused("\(name(unit)) says that it is \(size) bytes long")
    }
    // The offset places the unit's SOI where the last two bytes of the tables are written next.
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

  /// Returns a complete JPEG of the unit's size, the TIFF's colours and the chroma sampling of all units.
  func completeJPEG(_ unit: Int) throws(BuildError) -> UnsafeMutableBufferPointer<UInt8> {
    try sizedJPEG(unit).data
  }

  /// Returns a complete JPEG with its size: the unit's, or that of the image's part of a tile at the edge. Some writers
  /// pad the last strip.
  private func sizedJPEG(
    _ unit: Int
  ) throws(BuildError) -> (
    data: UnsafeMutableBufferPointer<UInt8>, width: Int, height: Int, sampling: Int32
  ) {
    let data = try jpeg(unit)
    let found = try header(of: data, unit)
    let inside = file.tags.visible(unit)
    guard inside.width...file.chunkWidth ~= found.width,
      inside.height...file.chunkHeight ~= found.height
    else {
      throw handle.refused(
        "\(name(unit)) is \(found.width) × \(found.height) pixels instead of \(file.chunkWidth) × "
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

  /// Returns the chroma sampling of a unit's JPEG, as TurboJPEG's number.
  func sampling(ofUnit unit: Int) throws(BuildError) -> Int32 {
    try header(of: try jpeg(unit), unit).sampling
  }

  /// The colour space inside the JPEG by the TIFF's field. libjpeg uses the JPEG's markers, and some scanners write RGB
  /// with the component numbers of YCbCr.
  private var colours: UInt32 {
    (file.bands == 1 ? TJCS_GRAY : file.isYCbCr ? TJCS_YCbCr : TJCS_RGB).rawValue
  }

  /// Whether the JPEG decoder would assume the colour space that the TIFF states.
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

  /// Throws an error if a unit ends early. Records other damage, which leaves a picture.
  @discardableResult
  private func check(_ unit: Int, _ code: Int32) throws(BuildError) -> Soundness {
    if code == 0 { return .sound }
    let warning = decoder?.message ?? ""
    guard tjGetErrorCode(decoder?.handle) == TJERR_WARNING.rawValue, !warning.contains("Premature end") else {
      throw refused(unit)
    }
    // Bytes after the last pixel; see `jpeg_errors.c`.
    let isOfPixels = !warning.contains("extraneous bytes")
    file.log.add(
      isOfPixels ? .error : .warning,
      "the TIFF file \(isOfPixels ? "is damaged" : "has flaws"): \(name(unit)): \(warning)")
    return .repaired
  }

  private func refused(_ unit: Int) -> BuildError {
    BuildError(file.path, "\(name(unit)): \(decoder?.message ?? "")")
  }

  /// Returns the name of a tile or strip in messages, counted from 1.
  func name(_ unit: Int) -> String { file.tags.name(ofUnit: unit) }
}

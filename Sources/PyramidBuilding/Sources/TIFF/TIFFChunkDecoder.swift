import ZigguratCTIFF
import ZigguratCTurboJPEG
import ZigguratCWebP
import ZigguratImaging

/// Decodes tiles and strips of a TIFF image to rows of samples: by libtiff, or by the decoders of JPEG 2000 and JPEG
/// XL. For one thread at a time.
final class TIFFChunkDecoder {
  let handle: TIFFHandle
  /// The samples of the unit that was decoded last, rows without gaps.
  private(set) var samples: [UInt8] = []
  private let path: String
  private let tags: TIFFTags
  private var stored: [UInt8] = []

  /// Bytes of the largest unit that is decoded in memory.
  static let maxUnitSize = 1 << 28

  /// The decoder of JPEG data that have other sizes than libtiff expects, and the bytes put before them.
  private var jpeg: (decoder: JPEGDecompressor, start: [UInt8])?

  init(path: String, tags: TIFFTags, handle: TIFFHandle) {
    self.path = path
    self.tags = tags
    self.handle = handle
  }

  /// Bits that a sample takes in a row.
  var storedBits: Int {
    guard tags.isCodedApart else { return tags.bits }
    return tags.bits > 16 ? 32 : tags.bits > 8 ? 16 : 8
  }

  /// Decodes a unit of one plane, or of all if they are together, to `samples`; zeros if the file does not hold it.
  ///
  /// - Returns: how many bytes it has.
  func decode(_ unit: Int) throws(BuildError) -> Int {
    let whole =
      tags.isCodedApart
      ? UInt64(tags.chunkWidth * tags.samplesInPlane * storedBits / 8) * UInt64(tags.rows(ofUnit: unit))
      : handle.size(ofUnit: unit)
    guard whole <= UInt64(Self.maxUnitSize) else { throw BuildError(path, "\(name(unit)) is too large") }
    let size = Int(whole)
    if samples.count < size { samples = [UInt8](repeating: 0, count: size) }
    if handle.isMissing(unit) {
      for index in 0..<size { samples[index] = 0 }
      return size
    }
    if tags.isCodedApart {
      try decodeCoded(unit, size)
      return size
    }
    if tags.hasCroppedTiles {
      try decodeJPEG(unit, size)
      return size
    }
    if tags.compression == COMPRESSION_NONE { try handle.checkStoredSize(unit, named: name(unit), whole) }
    let count = samples.withUnsafeMutableBytes { handle.readDecoded(unit, to: $0.baseAddress, count: size) }
    guard count == size else {
      let refusal = handle.refused("\(name(unit)) is damaged")
      guard tags.mayHaveFullLastStrip, tags.rows(ofUnit: unit) < tags.chunkHeight,
        try decodeFullWebP(unit, size)
      else { throw refusal }
      return size
    }
    return size
  }

  /// Decodes WebP data of a last strip that has as many rows as the others, which libtiff refuses.
  ///
  /// - Returns: whether they are such data.
  private func decodeFullWebP(_ unit: Int, _ size: Int) throws(BuildError) -> Bool {
    let count = try read(unit)
    let stride = tags.chunkWidth * tags.samplesInPlane
    var (width, height): (Int32, Int32) = (0, 0)
    guard 3...4 ~= tags.samplesInPlane, WebPGetInfo(stored, count, &width, &height) != 0,
      (Int(width), Int(height)) == (tags.chunkWidth, tags.chunkHeight),
      stride * tags.chunkHeight <= Self.maxUnitSize, size <= stride * tags.chunkHeight
    else { return false }
    var whole = [UInt8](repeating: 0, count: stride * tags.chunkHeight)
    let decode = tags.samplesInPlane == 3 ? WebPDecodeRGBInto : WebPDecodeRGBAInto
    guard decode(stored, count, &whole, whole.count, Int32(stride)) != nil else { return false }
    for index in 0..<size { samples[index] = whole[index] }
    return true
  }

  private func name(_ unit: Int) -> String { tags.name(ofUnit: unit) }

  /// Reads a unit's bytes to `stored`.
  ///
  /// - Returns: how many it has.
  private func read(_ unit: Int) throws(BuildError) -> Int {
    let count = handle.storedSize(unit)
    guard count <= UInt64(Self.maxUnitSize) else { throw BuildError(path, "\(name(unit)) is too large") }
    if stored.count < Int(count) { stored = [UInt8](repeating: 0, count: Int(count)) }
    let isRead = stored.withUnsafeMutableBytes {
      handle.readStored(unit, to: $0.baseAddress!, count: Int(count))
    }
    guard isRead else { throw handle.refused("\(name(unit)) cannot be read") }
    return Int(count)
  }

  /// Throws unless the data have all pixels that are the image's, and no more than a unit has. Some writers fill up the
  /// last strip.
  private func check(_ width: Int, _ height: Int, of unit: Int) throws(BuildError) {
    let visible = tags.visible(unit)
    guard width >= visible.width, height >= visible.height, width <= tags.chunkWidth,
      height <= tags.chunkHeight
    else {
      throw BuildError(
        path,
        "\(name(unit)) is \(width) × \(height) pixels instead of \(tags.chunkWidth) × \(tags.rows(ofUnit: unit))"
      )
    }
  }

  /// - Parameter size: bytes of `samples` that the unit has.
  private func decodeJPEG(_ unit: Int, _ size: Int) throws(BuildError) {
    let isYCbCr = tags.photometric == PHOTOMETRIC_YCBCR || tags.isYCbCrUnderRGB
    let colours: JPEGTablesHeader.Colours = tags.samplesInPlane == 4 ? .cmyk : isYCbCr ? .ycbcr : .stored
    if jpeg == nil {
      let start = JPEGTablesHeader.bytes(tables: handle.bytes(TIFFTAG_JPEGTABLES), colours)
      jpeg = (try JPEGDecompressor(path), start)
    }
    guard let (decoder, start) = jpeg else { return }
    let formats = [1: TJPF_GRAY, 3: TJPF_RGB, 4: TJPF_CMYK]
    guard let format = formats[tags.samplesInPlane] else {
      throw BuildError(
        path, "its JPEG tiles of \(tags.samplesInPlane) samples (SamplesPerPixel) are smaller than the tiles")
    }
    let count = try read(unit)
    // Its own SOI goes.
    let data = start + stored[min(2, count)..<count]
    guard let header = data.withUnsafeBytes({ decoder.header(of: $0) }) else {
      throw BuildError(path, "\(name(unit)) is damaged: \(decoder.message)")
    }
    try check(header.width, header.height, of: unit)
    let stride = tags.chunkWidth * tags.samplesInPlane
    guard stride * header.height <= size else {
      throw BuildError(path, "\(name(unit)) has more samples than \(size) bytes hold")
    }
    let code = samples.withUnsafeMutableBytes {
      tjDecompress2(
        decoder.handle, data, UInt(data.count), $0.assumingMemoryBound(to: UInt8.self).baseAddress,
        Int32(header.width), Int32(stride), Int32(header.height), Int32(format.rawValue),
        TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS)
    }
    guard code == 0 else { throw BuildError(path, "\(name(unit)) is damaged: \(decoder.message)") }
  }

  private func decodeCoded(_ unit: Int, _ size: Int) throws(BuildError) {
    let coded = try decoded(unit, try read(unit))
    try check(coded.width, coded.height, of: unit)
    guard coded.bits <= tags.bits, coded.bytesPerSample == storedBits / 8,
      coded.isFloat == (tags.format == SAMPLEFORMAT_IEEEFP)
    else {
      throw BuildError(
        path,
        "\(name(unit)) has samples of \(coded.bits) bits instead of \(tags.bits) (BitsPerSample \(tags.bits))"
      )
    }
    let pixelSize = coded.bands * coded.bytesPerSample
    let (from, to) = (coded.width * pixelSize, tags.chunkWidth * pixelSize)
    samples.withUnsafeMutableBytes { samples in
      coded.bytes.withUnsafeBytes { bytes in
        for y in 0..<min(coded.height, size / to) {
          (samples.baseAddress! + y * to).copyMemory(
            from: bytes.baseAddress! + y * from, byteCount: min(from, to))
        }
      }
    }
  }

  private func decoded(_ unit: Int, _ count: Int) throws(BuildError) -> CodedSamples {
    let (path, tags, name) = (path, tags, name(unit))
    let rows = tags.chunkHeight
    let result = stored.withUnsafeBytes { stored -> Result<CodedSamples, ImagingError> in
      let data = UnsafeRawBufferPointer(rebasing: stored[..<count])
      return Result { () throws(ImagingError) in
        tags.isJPEGXL
          ? try JPEGXL.samples(data, maxWidth: tags.chunkWidth, maxHeight: rows, bands: tags.samplesInPlane)
          : try JPEG2000.samples(data, maxWidth: tags.chunkWidth, maxHeight: rows, bands: tags.samplesInPlane)
      }
    }
    do { return try result.get() } catch {
      throw BuildError(
        path,
        "the \(tags.isJPEGXL ? "JPEG XL" : "JPEG 2000") data of \(name) cannot be decoded: \(error.message)")
    }
  }
}

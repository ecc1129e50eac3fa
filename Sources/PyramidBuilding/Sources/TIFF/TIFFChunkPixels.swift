import Synchronization
import ZigguratCTIFF
import ZigguratImaging

/// The pixels of TIFF images that libvips reads wrongly or not at all. These have sparse files, unusual samples,
/// colours that are neither gray nor RGB, or compressions that libtiff lacks.
final class TIFFChunkPixels: PixelSupply {
  /// The conversion of samples to pixels.
  private enum Conversion {
    /// Samples as stored, by `TIFFSampleCoding`.
    case samples
    /// 8-bit RGB by the palette, and the samples after the index, 0…255.
    case palette([[UInt8]])
    /// Floats of CIELAB, and the samples after them, 0…255.
    case lab(LabCoding)
    /// 8-bit RGB of Y'CbCr.
    case ycbcr(YCbCrCoding)
    /// 8-bit RGB by libtiff's own conversion.
    case libtiff
  }

  let header: GeneratedHeader
  private let path: String
  private let page: Int
  private let tags: TIFFTags
  private let conversion: Conversion
  private let coding: TIFFSampleCoding
  let bytesPerPixel: Int
  /// The number of units that are kept decoded.
  private let keptUnits: Int
  /// Receives tiles and strips of a damaged file that cannot be decoded, which become 0; nil for any other file.
  private let log: DamageLog?
  private let state: Mutex<State>

  private struct State: ~Copyable {
    // Used under the lock only.
    let decoder: TIFFChunkDecoder
    /// Pixels of units, as far as they are within the image.
    var units: [Int: [UInt8]] = [:]
    /// The units in order of use, least recent first.
    var order: [Int] = []
  }

  /// Maximum bytes of units of which two rows are kept; of larger ones, one row is kept.
  private static let maxRows = 1 << 26

  /// - Parameters:
  ///   - page: the page, counted from 0.
  ///   - keepsAll: whether each unit stays decoded, because pixels are not read row by row.
  /// - Throws: an error with the reason and the tags if this type cannot read the file.
  init(
    path: String, page: Int, tags: TIFFTags, keepsAll: Bool = false, damagedAsIn log: DamageLog? = nil
  ) throws(BuildError) {
    self.log = log
    let handle = try TIFFHandle(path: path, page: page)
    self.path = path
    self.page = page
    self.tags = tags
    if tags.isLuminance { handle.set(TIFFTAG_SGILOGDATAFMT, SGILOGDATAFMT_FLOAT) }
    let decoder = TIFFChunkDecoder(path: path, tags: tags, handle: handle)
    conversion = try Self.conversion(path, tags, handle)
    guard
      let coding = TIFFSampleCoding(
        format: tags.format, bits: tags.bits, storedBits: decoder.storedBits,
        isSpread: tags.photometric == PHOTOMETRIC_SEPARATED)
    else { throw Self.refusal(path, tags) }
    // TurboJPEG decodes such tiles, with samples of 8 bits.
    guard !tags.hasCroppedTiles || tags.bits == 8 && tags.format == SAMPLEFORMAT_UINT else {
      throw Self.refusal(path, tags)
    }
    self.coding = coding
    header = Self.header(tags, conversion, coding)
    bytesPerPixel = header.bytesPerSample * header.bands
    // OpenJPEG's samples have 4 bytes.
    let decodedSize = max(bytesPerPixel, 3, tags.isCodedApart ? tags.samplesInPlane * 4 : 0)
    guard tags.chunkHeight <= TIFFChunkDecoder.maxUnitSize / (tags.chunkWidth * decodedSize) else {
      throw BuildError(
        path, "its strips or tiles of \(tags.chunkWidth) × \(tags.chunkHeight) are too large to be decoded")
    }
    let perPlane = tags.columns.multipliedReportingOverflow(by: tags.rows)
    guard !perPlane.overflow,
      tags.compression == COMPRESSION_OJPEG
        || tags.chunkCount / (tags.isSeparate ? tags.samples : 1) == perPlane.partialValue
    else {
      throw BuildError(
        path, "it names \(tags.chunkCount) strips or tiles, which are not those of its size")
    }
    // Neighbouring rows of pixels are read together.
    let isSmall = 2 * tags.chunkHeight <= Self.maxRows / (tags.width * bytesPerPixel)
    keptUnits = keepsAll ? perPlane.partialValue : (isSmall ? 2 : 1) * tags.columns + 2
    if tags.photometric == PHOTOMETRIC_YCBCR || tags.isYCbCrUnderRGB, tags.compression == COMPRESSION_JPEG,
      !tags.isSeparate
    {
      if tags.isYCbCrUnderRGB {
        handle.set(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_YCBCR)
        let mcu = (0..<tags.chunkCount).first { !handle.isMissing($0) }
          .flatMap { handle.start(ofUnit: $0, count: 1 << 16) }
          .flatMap { data in data.withUnsafeBytes { JPEGHeader($0)?.mcu } }
        if let mcu {
          handle.set(TIFFTAG_YCBCRSUBSAMPLING, Int32(mcu.width / 8), Int32(mcu.height / 8))
        }
      }
      handle.set(TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB)
    }
    // The caller applies the orientation.
    if case .libtiff = conversion { handle.set(TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT) }
    state = Mutex(State(decoder: decoder))
  }

  /// The number of rows of pixels that are kept decoded, plus as many as the samples of one unit take.
  var rowsHeld: Int {
    // OpenJPEG has its own copies, with 4 bytes per sample.
    let copies = tags.isCodedApart ? 5 : 1
    return min(tags.height, keptUnits / tags.columns * tags.chunkHeight)
      + copies * tags.chunkWidth * tags.chunkHeight / tags.width + 1
  }

  private static func refusal(_ path: String, _ tags: TIFFTags) -> BuildError {
    BuildError(
      path,
      "its samples of \(tags.bits) bits (BitsPerSample \(tags.bits), SampleFormat \(tags.format)) of "
        + "\(tags.photometricName) are not read")
  }

  private static func conversion(
    _ path: String, _ tags: TIFFTags, _ handle: TIFFHandle
  ) throws(BuildError) -> Conversion {
    let isWhole = tags.format == SAMPLEFORMAT_UINT
    switch tags.photometric {
    case PHOTOMETRIC_PALETTE:
      guard isWhole, tags.bits <= 16, let palette = handle.palette(bits: tags.bits) else {
        throw refusal(path, tags)
      }
      return .palette(palette)
    case PHOTOMETRIC_CIELAB, PHOTOMETRIC_ICCLAB, PHOTOMETRIC_ITULAB:
      guard let coding = LabCoding(tags) else { throw refusal(path, tags) }
      return .lab(coding)
    case _ where tags.compression == COMPRESSION_OJPEG: return .libtiff
    case PHOTOMETRIC_YCBCR where tags.isJPEG2000, _ where tags.compression == 33003:
      guard tags.bits == 8, isWhole, tags.samples == 3, !tags.isSeparate else { throw refusal(path, tags) }
      return .ycbcr(YCbCrCoding(handle, isSubsampled: false))
    case PHOTOMETRIC_YCBCR
    where tags.compression == COMPRESSION_NONE && tags.isTiled && !tags.isSeparate && tags.samples == 3
      && tags.bits == 8 && isWhole:
      // libtiff's conversion assumes a larger tile.
      return .ycbcr(YCbCrCoding(handle, isSubsampled: true))
    // The JPEG decoder gets one component of separate planes, and converts none.
    case PHOTOMETRIC_YCBCR where tags.compression != COMPRESSION_JPEG || tags.isSeparate:
      guard tags.bits == 8, isWhole else { throw refusal(path, tags) }
      return .libtiff
    case PHOTOMETRIC_MINISBLACK, PHOTOMETRIC_MINISWHITE, PHOTOMETRIC_RGB, PHOTOMETRIC_SEPARATED,
      PHOTOMETRIC_YCBCR, PHOTOMETRIC_MASK:
      return .samples
    case PHOTOMETRIC_LOGL where tags.samples == 1: return .samples
    default: throw BuildError(path, "its \(tags.photometricName) are not read")
    }
  }

  private static func header(
    _ tags: TIFFTags, _ conversion: Conversion, _ coding: TIFFSampleCoding
  ) -> GeneratedHeader {
    func header(_ bands: Int, _ type: SampleType, _ interpretation: String) -> GeneratedHeader {
      GeneratedHeader(
        width: tags.width, height: tags.height, bands: bands, sampleType: type, interpretation: interpretation
      )
    }
    switch conversion {
    case .libtiff, .ycbcr: return header(3, .byte, "srgb")
    case .palette: return header(tags.pictureBands, .byte, "srgb")
    case .lab: return header(tags.samples, .float, "lab")
    case .samples:
      let is16 = coding.type == .unsigned16 || coding.type == .signed16
      let interpretation =
        switch tags.photometric {
        case PHOTOMETRIC_SEPARATED: "cmyk"
        case PHOTOMETRIC_RGB, PHOTOMETRIC_YCBCR:
          tags.format == SAMPLEFORMAT_IEEEFP ? "scrgb" : coding.type == .unsigned16 ? "rgb16" : "srgb"
        default: is16 ? "grey16" : "b-w"
        }
      var found = header(tags.samples, coding.type, interpretation)
      found.isDouble = coding.isDouble
      found.declaredBits = coding.declaredBits
      return found
    }
  }

  func fill(
    _ base: UnsafeMutableRawPointer, stride: Int, x: Int, y: Int, width: Int, height: Int
  ) throws(ImagingError) {
    let (right, bottom) = (x + width, y + height)
    do {
      try state.withLock { state in
        for row in y / tags.chunkHeight...(bottom - 1) / tags.chunkHeight {
          for column in x / tags.chunkWidth...(right - 1) / tags.chunkWidth {
            let unit = row * tags.columns + column
            try prepare(unit, &state)
            let (left, top) = (column * tags.chunkWidth, row * tags.chunkHeight)
            let (from, end) = (max(x, left), min(right, left + tags.chunkWidth))
            let inside = tags.visible(unit)
            state.units[unit]?.withUnsafeBytes { pixels in
              for line in max(y, top)..<min(bottom, top + inside.height) {
                let start = ((line - top) * inside.width + from - left) * bytesPerPixel
                (base + (line - y) * stride + (from - x) * bytesPerPixel).copyMemory(
                  from: pixels.baseAddress! + start, byteCount: (end - from) * bytesPerPixel)
              }
            }
          }
        }
      }
    } catch let error as BuildError {
      throw ImagingError("read", path, message: error.reason)
    } catch { throw ImagingError("read", path, message: "\(error)") }
  }

  /// Decodes a unit of all planes unless it is already decoded.
  private func prepare(_ unit: Int, _ state: inout State) throws(BuildError) {
    if state.units[unit] != nil { return }
    if state.order.count >= keptUnits { state.units[state.order.removeFirst()] = nil }
    let inside = tags.visible(unit)
    var pixels = [UInt8](repeating: 0, count: inside.width * inside.height * bytesPerPixel)
    switch conversion {
    case .libtiff:
      do throws(BuildError) {
        try convertByLibtiff(unit, to: &pixels, state.decoder)
        try report(state.decoder, unit)
      } catch { try lose(unit, error, state.decoder) }
    // A missing unit is black, not Y'CbCr of three zeros.
    case .ycbcr where state.decoder.handle.isMissing(unit): break
    case .ycbcr(let coding):
      do throws(BuildError) {
        let size = try state.decoder.decode(unit)
        try report(state.decoder, unit)
        state.decoder.samples.withUnsafeBytes { samples in
          pixels.withUnsafeMutableBytes {
            coding.convert(
              UnsafeRawBufferPointer(rebasing: samples[..<size]), chunkWidth: tags.chunkWidth,
              width: inside.width, height: inside.height, to: $0)
          }
        }
      } catch { try lose(unit, error, state.decoder) }
    default:
      let planes = tags.isSeparate ? tags.samples : 1
      for plane in 0..<planes {
        let stored = unit + plane * tags.columns * tags.rows
        do throws(BuildError) {
          let size = try state.decoder.decode(stored)
          try report(state.decoder, stored)
          convert(
            state.decoder.samples[..<size], plane: plane, inside, rowSize: rowSize(state.decoder), to: &pixels
          )
        } catch { try lose(stored, error, state.decoder) }
      }
    }
    state.units[unit] = pixels
    state.order.append(unit)
  }

  /// Returns the bytes of a row of samples in a unit.
  private func rowSize(_ decoder: TIFFChunkDecoder) -> Int {
    (tags.chunkWidth * tags.samplesInPlane * decoder.storedBits + 7) / 8
  }

  /// Reports damage of a tile or strip that is decoded nevertheless.
  ///
  /// - Throws: the damage, if there is no log. The file is then read again as a damaged one.
  private func report(_ decoder: TIFFChunkDecoder, _ unit: Int) throws(BuildError) {
    guard let damage = decoder.handle.takeDamage(of: tags.name(ofUnit: unit)) else { return }
    guard let log else { throw BuildError(path, damage.reason) }
    log.add(damage)
  }

  /// Records that a tile or strip of a damaged file is lost.
  private func lose(_ unit: Int, _ error: BuildError, _ decoder: TIFFChunkDecoder) throws(BuildError) {
    guard let log, !error.isTemporary else { throw error }
    log.add(
      lost: unit, ofPage: page, decoder.handle.loss(of: unit, named: tags.name(ofUnit: unit), error.reason))
    guard log.lostParts(ofPage: page) < tags.chunkCount - tags.missingCount else {
      throw BuildError(path, log.worst?.reason ?? error.reason)
    }
  }

  /// Copies samples to their positions among the pixels.
  private func convert(
    _ samples: ArraySlice<UInt8>, plane: Int, _ inside: (width: Int, height: Int), rowSize: Int,
    to pixels: inout [UInt8]
  ) {
    samples.withUnsafeBytes { samples in
      pixels.withUnsafeMutableBytes { pixels in
        for y in 0..<min(samples.count / rowSize, inside.height) {
          let row = UnsafeRawBufferPointer(rebasing: samples[(y * rowSize)..<((y + 1) * rowSize)])
          convert(row, plane, inside.width, to: pixels.baseAddress! + y * inside.width * bytesPerPixel)
        }
      }
    }
  }

  private func convert(
    _ row: UnsafeRawBufferPointer, _ plane: Int, _ width: Int, to out: UnsafeMutableRawPointer
  ) {
    let inPlane = tags.samplesInPlane
    switch conversion {
    case .libtiff, .ycbcr: return
    case .samples where inPlane == header.bands && coding.isIdentity:
      out.copyMemory(from: row.baseAddress!, byteCount: width * bytesPerPixel)
    case .samples where inPlane == header.bands:
      coding.unpack(row, count: width * inPlane, to: out, step: coding.size)
    case .samples: coding.unpack(row, count: width, to: out + plane * coding.size, step: bytesPerPixel)
    case .palette(let palette):
      let greatest = (1 << UInt64(tags.bits)) - 1
      for x in 0..<width {
        for sample in 0..<inPlane {
          let value = Int(min(coding.integer(row, x * inPlane + sample), UInt64(greatest)))
          let at = x * header.bands
          if plane + sample > 0 {
            out.storeBytes(
              of: UInt8((value * 255 + greatest / 2) / greatest), toByteOffset: at + 2 + plane + sample,
              as: UInt8.self)
            continue
          }
          for band in 0..<3 {
            out.storeBytes(of: palette[band][value], toByteOffset: at + band, as: UInt8.self)
          }
        }
      }
    case .lab(let lab):
      for x in 0..<width {
        for sample in 0..<inPlane {
          let value = lab.value(coding.integer(row, x * inPlane + sample), band: plane + sample)
          out.storeBytes(of: value, toByteOffset: 4 * (x * header.bands + plane + sample), as: Float.self)
        }
      }
    }
  }

  /// Converts by the RGBA interface of libtiff. It supports any chroma subsampling, YCbCr coefficients, reference black
  /// and white, and old-style JPEG.
  private func convertByLibtiff(
    _ unit: Int, to pixels: inout [UInt8], _ decoder: TIFFChunkDecoder
  ) throws(BuildError) {
    let handle = decoder.handle
    // A unit of old-style JPEG may have no offset, and is then not missing.
    if tags.compression != COMPRESSION_OJPEG, handle.isMissing(unit) { return }
    if tags.compression == COMPRESSION_NONE {
      try handle.checkStoredSize(unit, named: tags.name(ofUnit: unit), handle.size(ofUnit: unit))
    }
    var image = TIFFRGBAImage()
    var message = [CChar](repeating: 0, count: 1024)
    func refused(_ action: String) -> BuildError {
      let message = String(buffer: message)
      return message.isEmpty ? handle.refused(action) : BuildError(path, "\(action): \(message)")
    }
    guard TIFFRGBAImageOK(handle.pointer, &message) == 1,
      TIFFRGBAImageBegin(&image, handle.pointer, 1, &message) == 1
    else {
      throw refused(
        "its \(tags.photometricName) is not read in this arrangement (\(tags.compressionName), PlanarConfiguration "
          + "\(tags.isSeparate ? 2 : 1))")
    }
    defer { TIFFRGBAImageEnd(&image) }
    let (x, y) = (unit % tags.columns * tags.chunkWidth, unit / tags.columns * tags.chunkHeight)
    let (width, height) = tags.visible(unit)
    image.req_orientation = UInt16(ORIENTATION_TOPLEFT)
    image.col_offset = Int32(x)
    image.row_offset = Int32(y)
    var raster = [UInt32](repeating: 0, count: width * height)
    guard TIFFRGBAImageGet(&image, &raster, UInt32(width), UInt32(height)) == 1 else {
      throw refused("\(tags.name(ofUnit: unit)) is damaged")
    }
    for line in 0..<height {
      for column in 0..<width {
        // Red is the lowest byte.
        let pixel = raster[line * width + column]
        let at = 3 * (line * width + column)
        for band in 0..<3 { pixels[at + band] = UInt8(truncatingIfNeeded: pixel >> (8 * UInt32(band))) }
      }
    }
  }
}

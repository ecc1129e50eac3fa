import CTIFF
import Imaging
import Synchronization

/// The pixels of a TIFF image that libvips reads wrongly or not at all, decoded by libtiff: files that do not hold all
/// of their tiles or strips, YCbCr that is no JPEG, Lab with alpha.
final class TIFFUnitPixels: PixelSupply {
  /// The conversion of samples to an image's.
  enum Conversion {
    /// As they are stored; fewer than 8 bits are spread over bytes.
    case samples
    /// 8-bit RGB by the palette.
    case palette([[UInt16]])
    /// Floats of CIELAB, and whatever follows it as 0…255.
    case lab(isICC: Bool)
    /// 8-bit RGB by libtiff's own conversion.
    case libtiff
  }

  let header: GeneratedHeader
  private let path: String
  private let tags: TIFFTags
  private let conversion: Conversion
  private let bytesPerPixel: Int
  /// Of a damaged file: gets the tiles and strips that cannot be decoded, which are 0 then. Nil for any other file.
  private let log: DamageLog?
  private let state: Mutex<State>

  private struct State: ~Copyable {
    // Used under the lock only.
    let handle: TIFFHandle
    var units: [Int: [UInt8]] = [:]
    /// From the one that was used longest ago.
    var order: [Int] = []
    var raw: [UInt8] = []
  }

  /// Bytes of the largest unit that is decoded in memory.
  private static let largestUnit = 1 << 28

  /// - Throws: why the file cannot be read so, with the names and values of its tags.
  init(path: String, page: Int, tags: TIFFTags, damagedAsIn log: DamageLog? = nil) throws(BuildError) {
    self.log = log
    let handle = try TIFFHandle(path: path, page: page)
    (self.path, self.tags) = (path, tags)
    guard TIFFIsCODECConfigured(UInt16(clamping: tags.compression)) != 0 else {
      throw BuildError(
        path, "its compression (\(tags.compression)) is not read if tiles or strips are missing")
    }
    conversion = try Self.conversion(path, tags, handle)
    header = try Self.header(path, tags, conversion)
    let size: Int
    switch header.sampleType {
    case .byte, .signed8: size = 1
    case .unsigned16, .signed16: size = 2
    case .unsigned32, .signed32: size = 4
    case .float, .other: size = header.isDouble ? 8 : 4
    }
    bytesPerPixel = size * header.bands
    guard tags.unitHeight <= Self.largestUnit / (tags.unitWidth * max(bytesPerPixel, 4)) else {
      throw BuildError(
        path, "its strips or tiles of \(tags.unitWidth) × \(tags.unitHeight) are too large to be decoded")
    }
    if tags.photometric == PHOTOMETRIC_YCBCR || tags.isYCbCrUnderRGB, tags.compression == COMPRESSION_JPEG {
      if tags.isYCbCrUnderRGB {
        handle.set(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_YCBCR)
        let mcu = (0..<tags.unitCount).first { !handle.isMissing($0) }
          .flatMap { handle.start(ofUnit: $0, count: 1 << 16) }
          .flatMap { data in data.withUnsafeBytes { JPEGHeader($0)?.mcu } }
        if let mcu {
          handle.set(TIFFTAG_YCBCRSUBSAMPLING, Int32(mcu.width / 8), Int32(mcu.height / 8))
        }
      }
      handle.set(TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB)
    }
    // Whoever asked for the pixels turns them.
    if case .libtiff = conversion { handle.set(TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT) }
    state = Mutex(State(handle: handle))
  }

  private static func conversion(
    _ path: String, _ tags: TIFFTags, _ handle: TIFFHandle
  ) throws(BuildError) -> Conversion {
    switch tags.photometric {
    case PHOTOMETRIC_PALETTE:
      guard tags.samples == 1, tags.bits <= 8, let palette = handle.palette(bits: tags.bits),
        palette.count == 3
      else { throw BuildError(path, "its palette is unusual") }
      return .palette(palette)
    case PHOTOMETRIC_CIELAB: return .lab(isICC: false)
    case PHOTOMETRIC_ICCLAB: return .lab(isICC: true)
    case _ where tags.compression == COMPRESSION_OJPEG: return .libtiff
    case PHOTOMETRIC_YCBCR where tags.compression != COMPRESSION_JPEG: return .libtiff
    case PHOTOMETRIC_MINISBLACK, PHOTOMETRIC_MINISWHITE, PHOTOMETRIC_RGB, PHOTOMETRIC_SEPARATED,
      PHOTOMETRIC_YCBCR:
      return .samples
    default: throw BuildError(path, "its \(tags.photometricName) cannot be read")
    }
  }

  private static func header(
    _ path: String, _ tags: TIFFTags, _ conversion: Conversion
  ) throws(BuildError) -> GeneratedHeader {
    func header(_ bands: Int, _ type: SampleType, _ interpretation: String) -> GeneratedHeader {
      GeneratedHeader(
        width: tags.width, height: tags.height, bands: bands, sampleType: type, interpretation: interpretation
      )
    }
    let refusal = BuildError(path, "its \(tags.bits)-bit samples of \(tags.photometricName) cannot be read")
    switch conversion {
    case .libtiff, .palette: return header(3, .byte, "srgb")
    case .lab:
      guard [8, 16].contains(tags.bits), tags.samples >= 3 else { throw refusal }
      return header(tags.samples, .float, "lab")
    case .samples:
      let types: [Int32: [Int: SampleType]] = [
        SAMPLEFORMAT_UINT: [
          1: .byte, 2: .byte, 4: .byte, 8: .byte, 16: .unsigned16, 32: .unsigned32,
        ],
        SAMPLEFORMAT_INT: [8: .signed8, 16: .signed16, 32: .signed32],
        SAMPLEFORMAT_IEEEFP: [32: .float, 64: .float],
      ]
      guard let type = types[tags.format]?[tags.bits], tags.bits >= 8 || tags.samples == 1 else {
        throw refusal
      }
      let is16 = type == .unsigned16 || type == .signed16
      let interpretation =
        switch tags.photometric {
        case PHOTOMETRIC_SEPARATED: "cmyk"
        case PHOTOMETRIC_RGB, PHOTOMETRIC_YCBCR:
          type == .float ? "scrgb" : type == .unsigned16 ? "rgb16" : "srgb"
        default: is16 ? "grey16" : "b-w"
        }
      var found = header(tags.samples, type, interpretation)
      found.isDouble = tags.bits == 64
      return found
    }
  }

  func fill(
    _ base: UnsafeMutableRawPointer, stride: Int, x: Int, y: Int, width: Int, height: Int
  ) throws(ImagingError) {
    let (right, bottom) = (x + width, y + height)
    do {
      try state.withLock { state in
        for row in y / tags.unitHeight...(bottom - 1) / tags.unitHeight {
          for column in x / tags.unitWidth...(right - 1) / tags.unitWidth {
            let unit = row * tags.columns + column
            try prepare(unit, &state)
            let (left, top) = (column * tags.unitWidth, row * tags.unitHeight)
            let (from, end) = (max(x, left), min(right, left + tags.unitWidth))
            state.units[unit]?.withUnsafeBytes { pixels in
              for line in max(y, top)..<min(bottom, top + tags.unitHeight) {
                let start = ((line - top) * tags.unitWidth + from - left) * bytesPerPixel
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

  /// Decodes a unit of all planes unless it is there already.
  private func prepare(_ unit: Int, _ state: inout State) throws(BuildError) {
    if state.units[unit] != nil { return }
    // Two rows of units: neighbouring rows of pixels are asked for together.
    if state.order.count >= 2 * tags.columns + 2 { state.units[state.order.removeFirst()] = nil }
    var pixels = [UInt8](repeating: 0, count: tags.unitWidth * tags.unitHeight * bytesPerPixel)
    switch conversion {
    case .libtiff:
      do throws(BuildError) { try convertByLibtiff(unit, to: &pixels, state.handle) } catch {
        try lose(unit, error, state.handle)
      }
    default:
      let planes = tags.isSeparate ? tags.samples : 1
      for plane in 0..<planes {
        let stored = unit + plane * tags.columns * tags.rows
        do throws(BuildError) {
          let size = try decode(stored, &state)
          convert(state.raw[..<size], plane: plane, to: &pixels)
        } catch { try lose(stored, error, state.handle) }
      }
    }
    state.units[unit] = pixels
    state.order.append(unit)
  }

  private func rows(ofUnit unit: Int) -> Int {
    tags.isTiled ? tags.unitHeight : min(tags.unitHeight, tags.height - unit / tags.columns * tags.unitHeight)
  }

  private func name(_ unit: Int) -> String {
    "\(tags.isTiled ? "tile" : "strip") \(unit) of \(tags.unitCount)"
  }

  /// Decodes one stored unit to `state.raw`; zeros if the file does not hold it.
  ///
  /// - Returns: how many bytes it has.
  private func decode(_ unit: Int, _ state: inout State) throws(BuildError) -> Int {
    let handle = state.handle
    let whole = handle.size(ofUnit: unit)
    guard whole <= UInt64(Self.largestUnit) else { throw BuildError(path, "\(name(unit)) is too large") }
    let size = Int(whole)
    if state.raw.count < size { state.raw = [UInt8](repeating: 0, count: size) }
    if handle.isMissing(unit) {
      for index in 0..<size { state.raw[index] = 0 }
      return size
    }
    if tags.compression == COMPRESSION_NONE, handle.storedSize(unit) < whole {
      throw BuildError(path, "\(name(unit)) has \(handle.storedSize(unit)) bytes instead of \(size)")
    }
    let count = state.raw.withUnsafeMutableBytes {
      tags.isTiled
        ? TIFFReadEncodedTile(handle.pointer, UInt32(unit), $0.baseAddress, tmsize_t(size))
        : TIFFReadEncodedStrip(handle.pointer, UInt32(unit), $0.baseAddress, tmsize_t(size))
    }
    guard count == size else { throw handle.refused("\(name(unit)) is damaged") }
    return size
  }

  /// Notes that a tile or strip of a damaged file is lost.
  private func lose(_ unit: Int, _ error: BuildError, _ handle: TIFFHandle) throws(BuildError) {
    guard let log, !error.isTemporary else { throw error }
    if handle.isCutOff(unit) {
      log.add(lost: unit, .truncated, "the TIFF file is cut off: it lacks \(name(unit))")
    } else {
      log.add(lost: unit, .error, "the TIFF file is damaged: \(error.reason)")
    }
    guard log.lostParts < tags.unitCount - tags.missingCount else {
      throw BuildError(path, log.worst?.reason ?? error.reason)
    }
  }

  /// Brings samples as libtiff gives them to their places among the pixels.
  private func convert(
    _ raw: ArraySlice<UInt8>, plane: Int, to pixels: inout [UInt8]
  ) {
    let inPlane = tags.isSeparate ? 1 : tags.samples
    let rowSize = (tags.unitWidth * inPlane * tags.bits + 7) / 8
    let rows = raw.count / max(1, rowSize)
    raw.withUnsafeBytes { raw in
      pixels.withUnsafeMutableBytes { pixels in
        for y in 0..<min(rows, tags.unitHeight) {
          let row = UnsafeRawBufferPointer(rebasing: raw[(y * rowSize)..<((y + 1) * rowSize)])
          let first = y * tags.unitWidth * bytesPerPixel
          let out = UnsafeMutableRawBufferPointer(
            rebasing: pixels[first..<(first + tags.unitWidth * bytesPerPixel)])
          convert(row, inPlane, plane, to: out)
        }
      }
    }
  }

  private func convert(
    _ row: UnsafeRawBufferPointer, _ inPlane: Int, _ plane: Int, to out: UnsafeMutableRawBufferPointer
  ) {
    let width = tags.unitWidth
    switch conversion {
    case .libtiff: return
    case .samples where tags.bits >= 8:
      guard inPlane != header.bands else { return out.copyMemory(from: row) }
      let size = tags.bits / 8
      for x in 0..<width {
        for byte in 0..<size {
          out[(x * header.bands + plane) * size + byte] = row[x * size + byte]
        }
      }
    case .samples:
      let white = (1 << tags.bits) - 1
      for x in 0..<width { out[x] = UInt8(narrow(row, x) * 255 / white) }
    case .palette(let palette):
      for x in 0..<width {
        let index = narrow(row, x)
        for band in 0..<3 { out[3 * x + band] = UInt8(palette[band][index] >> 8) }
      }
    case .lab(let isICC):
      let isWide = tags.bits == 16
      for x in 0..<width {
        for sample in 0..<inPlane {
          let at = x * inPlane + sample
          let number =
            isWide ? Int(row.loadUnaligned(fromByteOffset: 2 * at, as: UInt16.self)) : Int(row[at])
          let value = Self.lab(number, band: plane + sample, isWide: isWide, isICC: isICC)
          out.storeBytes(of: value, toByteOffset: 4 * (x * header.bands + plane + sample), as: Float.self)
        }
      }
    }
  }

  /// A sample of at most 8 bits.
  private func narrow(_ row: UnsafeRawBufferPointer, _ x: Int) -> Int {
    let bit = x * tags.bits
    return Int(row[bit / 8]) >> (8 - tags.bits - bit % 8) & ((1 << tags.bits) - 1)
  }

  /// L* 0…100, a* and b* around 0 (TIFF 6.0, section 23), or as ICC profiles of version 2 have them (TIFF Technical
  /// Note 4); anything else is alpha's 0…255.
  private static func lab(_ number: Int, band: Int, isWide: Bool, isICC: Bool) -> Float {
    let scale: Float = isWide ? 256 : 1
    switch band {
    case 0: return Float(number) * 100 / (isWide ? (isICC ? 65280 : 65535) : 255)
    case 1, 2:
      if isICC { return Float(number) / scale - 128 }
      return (isWide ? Float(Int16(truncatingIfNeeded: number)) : Float(Int8(truncatingIfNeeded: number)))
        / scale
    default: return Float(number) / (isWide ? 257 : 1)
    }
  }

  /// The RGBA interface of libtiff, which knows chroma of any resolution, the coefficients and the reference black and
  /// white of YCbCr, and JPEG of TIFF's first manner.
  private func convertByLibtiff(
    _ unit: Int, to pixels: inout [UInt8], _ handle: TIFFHandle
  ) throws(BuildError) {
    // Without a place of its own, as JPEG of the first manner may have none, a unit is not missing.
    if tags.compression != COMPRESSION_OJPEG, handle.isMissing(unit) { return }
    if tags.compression == COMPRESSION_NONE, handle.storedSize(unit) < handle.size(ofUnit: unit) {
      throw BuildError(
        path, "\(name(unit)) has \(handle.storedSize(unit)) bytes instead of \(handle.size(ofUnit: unit))")
    }
    var image = TIFFRGBAImage()
    var message = [CChar](repeating: 0, count: 1024)
    func refused(_ action: String) -> BuildError {
      let words = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      return words.isEmpty ? handle.refused(action) : BuildError(path, "\(action): \(words)")
    }
    guard TIFFRGBAImageOK(handle.pointer, &message) == 1,
      TIFFRGBAImageBegin(&image, handle.pointer, 1, &message) == 1
    else { throw refused("its \(tags.photometricName), compression \(tags.compression), cannot be read") }
    defer { TIFFRGBAImageEnd(&image) }
    let (x, y) = (unit % tags.columns * tags.unitWidth, unit / tags.columns * tags.unitHeight)
    let (width, height) = (min(tags.unitWidth, tags.width - x), min(tags.unitHeight, tags.height - y))
    image.req_orientation = UInt16(ORIENTATION_TOPLEFT)
    (image.col_offset, image.row_offset) = (Int32(x), Int32(y))
    var raster = [UInt32](repeating: 0, count: width * height)
    guard TIFFRGBAImageGet(&image, &raster, UInt32(width), UInt32(height)) == 1 else {
      throw refused("\(name(unit)) is damaged")
    }
    for line in 0..<height {
      for column in 0..<width {
        // Red is the lowest byte.
        let pixel = raster[line * width + column]
        let at = 3 * (line * tags.unitWidth + column)
        for band in 0..<3 { pixels[at + band] = UInt8(truncatingIfNeeded: pixel >> (8 * UInt32(band))) }
      }
    }
  }
}

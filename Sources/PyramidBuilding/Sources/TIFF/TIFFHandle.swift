import Glibc
import TileStorage
import ZigguratCTIFF
import ZigguratImaging

/// A TIFF file opened by libtiff, at one of its images. For one thread at a time.
final class TIFFHandle {
  let pointer: OpaquePointer
  /// The descriptor of the file, which the handle keeps open. libtiff has none if it reads through a `TIFFPageView`.
  private let descriptor: Int32
  private let subject: String
  private let messages: Messages

  /// The most that libtiff may allocate at a time: a tile, or the table of where the tiles are.
  private static let largestAllocation: tmsize_t = 1 << 28

  /// - Parameter page: counted from 0.
  init(path: String, page: Int = 0) throws(BuildError) {
    subject = path
    messages = Messages()
    guard let options = TIFFOpenOptionsAlloc() else {
      throw BuildError(path, "no memory for a TIFF reader", isTemporary: true)
    }
    defer { TIFFOpenOptionsFree(options) }
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, Self.largestAllocation)
    let owner = Unmanaged.passUnretained(messages).toOpaque()
    TIFFOpenOptionsSetErrorHandlerExtR(
      options,
      { _, owner, _, format, arguments in
        guard let arguments else { return 1 }
        Unmanaged<Messages>.fromOpaque(owner!).takeUnretainedValue().take(format, arguments)
        return 1
      }, owner)
    // Unknown tags and their like: nothing that the pixels depend on, with one exception.
    TIFFOpenOptionsSetWarningHandlerExtR(
      options,
      { _, owner, _, format, arguments in
        Unmanaged<Messages>.fromOpaque(owner!).takeUnretainedValue().notice(format, arguments)
        return 1
      }, owner)
    let view = page > 0 ? TIFFPageView(path: path, page: page) : nil
    // Not mapped: a file that is cut short under a mapping ends the process.
    let opened = view.map { $0.open(path, "rm", options) } ?? TIFFOpenExt(path, "rm", options)
    guard let pointer = opened else {
      throw BuildError(
        path,
        messages.first.map { DecoderMessage.explained($0, format: "TIFF", path: path) }
          ?? "is not a TIFF file")
    }
    self.pointer = pointer
    descriptor = view?.descriptor ?? TIFFFileno(pointer)
    guard page > 0, view == nil else { return }
    messages.lacksExtraSamples = false
    guard TIFFSetDirectory(pointer, tdir_t(clamping: page)) == 1 else {
      throw refused("page \(page + 1) cannot be read")
    }
  }

  /// Whether the image has more samples than its colours and its ExtraSamples together. libtiff adds what is missing to
  /// the tag, so that its value does not show it.
  var lacksExtraSamples: Bool { messages.lacksExtraSamples }

  deinit { TIFFClose(pointer) }

  /// An error with libtiff's own words, the first since the last call.
  func refused(_ action: String) -> BuildError {
    defer { (messages.first, messages.decoding) = (nil, nil) }
    return BuildError(subject, messages.first.map { "\(action): \($0)" } ?? action)
  }

  /// Returns the damage of pixels that libtiff has decoded nevertheless since the last call; `nil` if it reported none.
  ///
  /// - Parameter part: the name of the tile or strip.
  func takeDamage(of part: String) -> SourceDamage? {
    defer { messages.decoding = nil }
    return messages.decoding.flatMap { DecoderWarnings.tiff(message: $0, of: part) }
  }

  /// A field of 16 bits, or what the standard says where it is missing.
  func short(_ tag: Int32) -> Int {
    var value: UInt16 = 0
    return withUnsafeMutablePointer(to: &value) { out in
      withVaList([out]) { TIFFVGetFieldDefaulted(pointer, UInt32(tag), $0) }
    } == 1 ? Int(value) : 0
  }

  /// A field of 16 bits that the file has; `nil` if it has not.
  func stated(_ tag: Int32) -> Int? {
    var value: UInt16 = 0
    let isThere = withUnsafeMutablePointer(to: &value) { out in
      withVaList([out]) { TIFFVGetField(pointer, UInt32(tag), $0) }
    }
    return isThere == 1 ? Int(value) : nil
  }

  /// The photometric tag. If the file lacks it, the value that libtiff's RGBA interface assumes for so many samples
  /// (libtiff 4.5, `TIFFRGBAImageBegin`); `nil` if that is none. Without the tag libtiff takes samples beyond the first
  /// for ExtraSamples, which therefore do not count.
  var photometric: Int? {
    if let stated = stated(TIFFTAG_PHOTOMETRIC) { return stated }
    switch short(TIFFTAG_SAMPLESPERPIXEL) {
    case 1, 2:
      let fax = [COMPRESSION_CCITTRLE, COMPRESSION_CCITTRLEW, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4]
      let isFax = fax.contains(Int32(short(TIFFTAG_COMPRESSION)))
      return Int(isFax ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_MINISBLACK)
    case 3: return Int(PHOTOMETRIC_RGB)
    default: return nil
    }
  }

  /// A field of 32 bits, or nil.
  func long(_ tag: Int32) -> Int? {
    var value: UInt32 = 0
    let isThere = withUnsafeMutablePointer(to: &value) { out in
      withVaList([out]) { TIFFVGetField(pointer, UInt32(tag), $0) }
    }
    return isThere == 1 ? Int(value) : nil
  }

  /// A field of a 32-bit float, or nil.
  func float(_ tag: Int32) -> Double? {
    var value: Float = 0
    let isThere = withUnsafeMutablePointer(to: &value) { out in
      withVaList([out]) { TIFFVGetField(pointer, UInt32(tag), $0) }
    }
    return isThere == 1 ? Double(value) : nil
  }

  /// A field of two 16-bit numbers, or what the standard says where it is missing.
  func shorts(_ tag: Int32) -> [Int] {
    var (first, second): (UInt16, UInt16) = (0, 0)
    let isThere = withUnsafeMutablePointer(to: &first) { first in
      withUnsafeMutablePointer(to: &second) { second in
        withVaList([first, second]) { TIFFVGetFieldDefaulted(pointer, UInt32(tag), $0) }
      }
    }
    return isThere == 1 ? [Int(first), Int(second)] : []
  }

  /// A field of so many 32-bit floats, or nil.
  func floats(_ tag: Int32, count: Int) -> [Float]? {
    var base: UnsafePointer<Float>?
    let isThere = withUnsafeMutablePointer(to: &base) { out in
      withVaList([out]) { TIFFVGetFieldDefaulted(pointer, UInt32(tag), $0) }
    }
    guard isThere == 1, let base else { return nil }
    return Array(UnsafeBufferPointer(start: base, count: count))
  }

  /// What each sample beyond those of the colours is (TIFF 6.0, ExtraSamples).
  var extraSamples: [Int] {
    var count: UInt16 = 0
    var base: UnsafeMutablePointer<UInt16>?
    let isThere = withUnsafeMutablePointer(to: &count) { count in
      withUnsafeMutablePointer(to: &base) { base in
        withVaList([count, base]) { TIFFVGetField(pointer, UInt32(TIFFTAG_EXTRASAMPLES), $0) }
      }
    }
    guard isThere == 1, let base else { return [] }
    return UnsafeBufferPointer(start: base, count: Int(count)).map(Int.init)
  }

  /// Red, green and blue of each index, 16 bits each; nil if there is no palette.
  func palette(bits: Int) -> [[UInt16]]? {
    var planes: [UnsafeMutablePointer<UInt16>?] = [nil, nil, nil]
    let isThere = planes.withUnsafeMutableBufferPointer { planes in
      let base = planes.baseAddress!
      return withVaList([base, base + 1, base + 2]) {
        TIFFVGetField(pointer, UInt32(TIFFTAG_COLORMAP), $0)
      }
    }
    guard isThere == 1 else { return nil }
    return planes.compactMap { $0 }.map { Array(UnsafeBufferPointer(start: $0, count: 1 << bits)) }
  }

  /// The image's text; nil if there is none.
  func text(_ tag: Int32) -> String? {
    var base: UnsafePointer<CChar>?
    let isThere = withUnsafeMutablePointer(to: &base) { out in
      withVaList([out]) { TIFFVGetField(pointer, UInt32(tag), $0) }
    }
    return isThere == 1 ? base.map { String(cString: $0) } : nil
  }

  /// Replaces a field of one or two 16-bit numbers in memory.
  func set(_ tag: Int32, _ values: Int32...) {
    _ = withVaList(values.map { $0 as any CVarArg }) { TIFFVSetField(pointer, UInt32(tag), $0) }
  }

  var isTiled: Bool { TIFFIsTiled(pointer) != 0 }
  /// Tiles, or strips, of all planes.
  var unitCount: Int { Int(isTiled ? TIFFNumberOfTiles(pointer) : TIFFNumberOfStrips(pointer)) }

  /// Whether the file holds nothing for a tile or strip, as GDAL's sparse files, and scanners of empty glass.
  func isMissing(_ unit: Int) -> Bool {
    storedSize(unit) == 0 || TIFFGetStrileOffset(pointer, UInt32(unit)) == 0
  }

  /// Bytes that the file says a tile or strip has.
  func storedSize(_ unit: Int) -> UInt64 { TIFFGetStrileByteCount(pointer, UInt32(unit)) }

  /// Whether the file ends before a tile or strip does.
  func isCutOff(_ unit: Int) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    let (end, isTooLarge) = TIFFGetStrileOffset(pointer, UInt32(unit))
      .addingReportingOverflow(storedSize(unit))
    return isTooLarge || end > UInt64(status.st_size)
  }

  /// Reads the bytes that the file has of a tile or strip, at most `count`.
  ///
  /// - Parameter place: bytes of it that come before them.
  /// - Returns: how many there are.
  func readPart(
    _ unit: Int, from place: UInt64 = 0, to base: UnsafeMutableRawPointer, count: Int
  ) -> Int {
    let (offset, isTooLarge) = TIFFGetStrileOffset(pointer, UInt32(unit)).addingReportingOverflow(place)
    guard !isTooLarge, let start = Int(exactly: offset), start > 0 else { return 0 }
    return max(0, pread(descriptor, base, count, start))
  }

  /// Reads the bytes of a tile or strip as they are stored.
  func readStored(_ unit: Int, to base: UnsafeMutableRawPointer, count: Int) -> Bool {
    (isTiled
      ? TIFFReadRawTile(pointer, UInt32(unit), base, tmsize_t(count))
      : TIFFReadRawStrip(pointer, UInt32(unit), base, tmsize_t(count))) == count
  }

  /// The first bytes of a tile or strip as they are stored; nil if it is missing or cannot be read.
  func start(ofUnit unit: Int, count: Int) -> [UInt8]? {
    let size = Int(min(storedSize(unit), UInt64(count)))
    guard size > 0, !isMissing(unit) else { return nil }
    var bytes = [UInt8](repeating: 0, count: size)
    return bytes.withUnsafeMutableBytes { readStored(unit, to: $0.baseAddress!, count: size) } ? bytes : nil
  }

  /// Whether JPEG data begin with JFIF's marker, and thus are YCbCr, whatever the photometric tag says: that of some
  /// writers says RGB. tifffile decides the same way. Without the marker the tag counts, as for Aperio's scanners.
  var hasJFIFData: Bool {
    guard let unit = (0..<unitCount).first(where: { !isMissing($0) }),
      let start = start(ofUnit: unit, count: 10), start.count == 10
    else { return false }
    return start[2...3] == [0xff, 0xe0] && start[6...9].elementsEqual("JFIF".utf8)
  }

  /// A field of bytes; empty where it is missing.
  func bytes(_ tag: Int32) -> [UInt8] {
    var count: UInt32 = 0
    var base: UnsafeMutableRawPointer?
    let isThere = withUnsafeMutablePointer(to: &count) { count in
      withUnsafeMutablePointer(to: &base) { base in
        withVaList([count, base]) { TIFFVGetField(pointer, UInt32(tag), $0) }
      }
    }
    guard isThere == 1, let base else { return [] }
    return Array(UnsafeRawBufferPointer(start: base, count: Int(count)))
  }

  /// The messages that libtiff gives for one handle.
  private final class Messages {
    /// The first error.
    var first: String?
    /// The first error or warning about pixels that are decoded nevertheless.
    var decoding: String?
    var lacksExtraSamples = false

    func notice(_ format: UnsafePointer<CChar>?, _ arguments: CVaListPointer?) {
      guard let format else { return }
      if String(cString: format).contains("ExtraSamples doesn't match SamplesPerPixel") {
        lacksExtraSamples = true
      }
      if let arguments { keepIfDamage(Self.text(format, arguments)) }
    }

    func take(_ format: UnsafePointer<CChar>?, _ arguments: CVaListPointer) {
      guard let format, first == nil || decoding == nil else { return }
      let text = Self.text(format, arguments)
      first = first ?? text
      keepIfDamage(text)
    }

    private func keepIfDamage(_ text: String) {
      if decoding == nil, DecoderWarnings.tiff(message: text) != nil { decoding = text }
    }

    private static func text(_ format: UnsafePointer<CChar>, _ arguments: CVaListPointer) -> String {
      var text = [CChar](repeating: 0, count: 256)
      vsnprintf(&text, text.count, format, arguments)
      let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      // File names and tag values of a hostile file may hold anything.
      return String(decoding: bytes.map { $0 < 0x20 ? 0x20 : $0 }, as: UTF8.self)
    }
  }
}

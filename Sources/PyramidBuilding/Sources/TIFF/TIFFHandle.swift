import Glibc
import TileStorage
import ZigguratCTIFF
import ZigguratImaging

/// A TIFF file opened by libtiff, at one of its images. Use it on one thread at a time.
final class TIFFHandle {
  let pointer: OpaquePointer
  /// The descriptor of the file, which the handle keeps open. libtiff has none if it reads through a `TIFFPageView`.
  private let descriptor: Int32
  private let subject: String
  private let messages: Messages

  /// The largest allocation of libtiff in bytes: a tile, or the table of tile offsets.
  private static let maxAllocation: tmsize_t = 1 << 28

  /// - Parameter page: the page, counted from 0.
  init(path: String, page: Int = 0) throws(BuildError) {
    subject = path
    messages = Messages()
    guard let options = TIFFOpenOptionsAlloc() else {
      throw BuildError(path, "no memory for a TIFF reader", isTemporary: true)
    }
    defer { TIFFOpenOptionsFree(options) }
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, Self.maxAllocation)
    let owner = Unmanaged.passUnretained(messages).toOpaque()
    TIFFOpenOptionsSetErrorHandlerExtR(
      options,
      { _, owner, _, format, arguments in
        guard let arguments else { return 1 }
        Unmanaged<Messages>.fromOpaque(owner!).takeUnretainedValue().take(format, arguments)
        return 1
      }, owner)
    // Warnings about unknown tags and the like. Pixels depend on none of them, with one exception.
    TIFFOpenOptionsSetWarningHandlerExtR(
      options,
      { _, owner, _, format, arguments in
        Unmanaged<Messages>.fromOpaque(owner!).takeUnretainedValue().notice(format, arguments)
        return 1
      }, owner)
    let view = page > 0 ? TIFFPageView(path: path, page: page) : nil
    // Not mapped: truncating a mapped file would end the process.
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

  /// Whether the image has more samples than its colours and its ExtraSamples together. libtiff extends the tag, so
  /// that its value does not show it.
  var lacksExtraSamples: Bool { messages.lacksExtraSamples }

  deinit { TIFFClose(pointer) }

  /// Returns an error with libtiff's first message since the last call.
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

  /// Reads a field to the addresses where libtiff writes it.
  ///
  /// - Parameter isDefaulted: whether to use the standard's default if the file lacks the field.
  /// - Returns: whether there is a value.
  private func read(_ tag: Int32, isDefaulted: Bool = false, to places: any CVarArg...) -> Bool {
    withVaList(places) {
      isDefaulted
        ? TIFFVGetFieldDefaulted(pointer, UInt32(tag), $0) : TIFFVGetField(pointer, UInt32(tag), $0)
    } == 1
  }

  /// Returns a field of one value; `nil` if there is none.
  private func value<Value>(_ tag: Int32, isDefaulted: Bool = false, _ initial: Value) -> Value? {
    var value = initial
    return withUnsafeMutablePointer(to: &value) { read(tag, isDefaulted: isDefaulted, to: $0) } ? value : nil
  }

  /// Returns a field of several values, with a count of the type of `zero`; empty if there is none.
  private func values<Count: BinaryInteger, Value>(_ tag: Int32, _ zero: Count, _: Value.Type) -> [Value] {
    var (count, base): (Count, UnsafePointer<Value>?) = (zero, nil)
    let isThere = withUnsafeMutablePointer(to: &count) { count in
      withUnsafeMutablePointer(to: &base) { read(tag, to: count, $0) }
    }
    guard isThere, let base else { return [] }
    return Array(UnsafeBufferPointer(start: base, count: Int(count)))
  }

  /// Returns a field of 16 bits, or the standard's default if the file lacks it.
  func short(_ tag: Int32) -> Int { Int(value(tag, isDefaulted: true, 0 as UInt16) ?? 0) }

  /// Returns a field of 16 bits; `nil` if the file lacks it.
  func stated(_ tag: Int32) -> Int? { value(tag, 0 as UInt16).map(Int.init) }

  /// The photometric tag. If the file lacks it, this is the value that libtiff's RGBA interface assumes (libtiff 4.5,
  /// `TIFFRGBAImageBegin`); `nil` if there is none. Without the tag, libtiff treats samples beyond the first as
  /// ExtraSamples, which therefore do not count.
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

  /// Returns a field of 32 bits; `nil` if the file lacks it.
  func long(_ tag: Int32) -> Int? { value(tag, 0 as UInt32).map(Int.init) }

  /// Returns a field of a 32-bit float; `nil` if the file lacks it.
  func float(_ tag: Int32) -> Double? { value(tag, 0 as Float).map(Double.init) }

  /// Returns a field of two 16-bit numbers, or the standard's default if the file lacks it.
  func shorts(_ tag: Int32) -> [Int] {
    var values: [UInt16] = [0, 0]
    let isThere = values.withUnsafeMutableBufferPointer { values in
      read(tag, isDefaulted: true, to: values.baseAddress!, values.baseAddress! + 1)
    }
    return isThere ? values.map(Int.init) : []
  }

  /// Returns a field of `count` 32-bit floats, or the standard's default; `nil` if there is none.
  func floats(_ tag: Int32, count: Int) -> [Float]? {
    guard let base = value(tag, isDefaulted: true, nil as UnsafePointer<Float>?) ?? nil else { return nil }
    return Array(UnsafeBufferPointer(start: base, count: count))
  }

  /// The kind of each sample beyond those of the colours (TIFF 6.0, ExtraSamples).
  var extraSamples: [Int] { values(TIFFTAG_EXTRASAMPLES, 0 as UInt16, UInt16.self).map(Int.init) }

  /// Returns the reds, greens and blues of the palette; `nil` if there is no palette.
  func palette(bits: Int) -> [[UInt8]]? {
    var planes: [UnsafeMutablePointer<UInt16>?] = [nil, nil, nil]
    let isThere = planes.withUnsafeMutableBufferPointer { planes in
      let base = planes.baseAddress!
      return read(TIFFTAG_COLORMAP, to: base, base + 1, base + 2)
    }
    guard isThere, !planes.contains(nil) else { return nil }
    let colours = planes.map { Array(UnsafeBufferPointer(start: $0, count: 1 << bits)) }
    // Some writers fill in 8 bits of the 16.
    let shift = colours.joined().contains { $0 > 255 } ? 8 : 0
    return colours.map { $0.map { UInt8(truncatingIfNeeded: $0 >> shift) } }
  }

  /// Returns a text of the image; `nil` if there is none.
  func text(_ tag: Int32) -> String? {
    (value(tag, nil as UnsafePointer<CChar>?) ?? nil).map { String(cString: $0) }
  }

  /// Returns a field of bytes; empty if the file lacks it.
  func bytes(_ tag: Int32) -> [UInt8] { values(tag, 0 as UInt32, UInt8.self) }

  /// Replaces a field of one or two 16-bit numbers in memory.
  func set(_ tag: Int32, _ values: Int32...) {
    _ = withVaList(values.map { $0 as any CVarArg }) { TIFFVSetField(pointer, UInt32(tag), $0) }
  }

  var isTiled: Bool { TIFFIsTiled(pointer) != 0 }
  /// The number of tiles, or strips, of all planes.
  var chunkCount: Int { Int(isTiled ? TIFFNumberOfTiles(pointer) : TIFFNumberOfStrips(pointer)) }

  /// Whether the file has no data for a tile or strip, as in GDAL's sparse files and for empty glass of scanners.
  func isMissing(_ unit: Int) -> Bool {
    storedSize(unit) == 0 || TIFFGetStrileOffset(pointer, UInt32(unit)) == 0
  }

  /// Returns the stored bytes of a tile or strip by the file's tag.
  func storedSize(_ unit: Int) -> UInt64 { TIFFGetStrileByteCount(pointer, UInt32(unit)) }

  /// Whether the file ends before a tile or strip does.
  func isCutOff(_ unit: Int) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    let (end, isTooLarge) = TIFFGetStrileOffset(pointer, UInt32(unit))
      .addingReportingOverflow(storedSize(unit))
    return isTooLarge || end > UInt64(status.st_size)
  }

  /// Reads at most `count` of the existing bytes of a tile or strip.
  ///
  /// - Parameter place: the offset of the first byte within the tile or strip.
  /// - Returns: the number of bytes.
  func readPart(
    _ unit: Int, from place: UInt64 = 0, to base: UnsafeMutableRawPointer, count: Int
  ) -> Int {
    let (offset, isTooLarge) = TIFFGetStrileOffset(pointer, UInt32(unit)).addingReportingOverflow(place)
    guard !isTooLarge, let start = Int(exactly: offset), start > 0 else { return 0 }
    return max(0, pread(descriptor, base, count, start))
  }

  /// Reads the stored bytes of a tile or strip.
  func readStored(_ unit: Int, to base: UnsafeMutableRawPointer, count: Int) -> Bool {
    (isTiled
      ? TIFFReadRawTile(pointer, UInt32(unit), base, tmsize_t(count))
      : TIFFReadRawStrip(pointer, UInt32(unit), base, tmsize_t(count))) == count
  }

  /// Decodes a tile or strip.
  ///
  /// - Returns: the number of bytes; −1 if it is damaged.
  func readDecoded(_ unit: Int, to base: UnsafeMutableRawPointer?, count: Int) -> Int {
    Int(
      isTiled
        ? TIFFReadEncodedTile(pointer, UInt32(unit), base, tmsize_t(count))
        : TIFFReadEncodedStrip(pointer, UInt32(unit), base, tmsize_t(count)))
  }

  /// Throws an error if an uncompressed tile or strip is shorter than its pixels: libtiff would read the following
  /// data.
  func checkStoredSize(_ unit: Int, named name: String, _ size: UInt64) throws(BuildError) {
    guard storedSize(unit) < size else { return }
    throw BuildError(subject, "\(name) has \(storedSize(unit)) bytes instead of \(size)")
  }

  /// Returns the damage of a file with a missing tile or strip, or one that cannot be decoded for a reason.
  func loss(of unit: Int, named name: String, _ reason: String) -> SourceDamage {
    isCutOff(unit)
      ? SourceDamage(.truncated, "the TIFF file is cut off: it lacks \(name)")
      : SourceDamage(.error, "the TIFF file is damaged: \(reason)")
  }

  /// Returns the first stored bytes of a tile or strip; nil if it is missing or cannot be read.
  func start(ofUnit unit: Int, count: Int) -> [UInt8]? {
    let size = Int(min(storedSize(unit), UInt64(count)))
    guard size > 0, !isMissing(unit) else { return nil }
    var bytes = [UInt8](repeating: 0, count: size)
    return bytes.withUnsafeMutableBytes { readStored(unit, to: $0.baseAddress!, count: size) } ? bytes : nil
  }

  /// Whether JPEG data begin with a JFIF marker, and are therefore YCbCr. The photometric tag of some writers wrongly
  /// says RGB; tifffile decides the same way. Without the marker, the tag is used, as for Aperio's scanners.
  var hasJFIFData: Bool {
    guard let unit = (0..<chunkCount).first(where: { !isMissing($0) }),
      let start = start(ofUnit: unit, count: 10), start.count == 10
    else { return false }
    return start[2...3] == [0xff, 0xe0] && start[6...9].elementsEqual("JFIF".utf8)
  }

  /// The messages of libtiff for one handle.
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
      // File names and tag values of an untrusted file may contain any bytes.
      return String(buffer: text.prefix { $0 != 0 }.map { 0..<0x20 ~= $0 ? 0x20 : $0 })
    }
  }
}

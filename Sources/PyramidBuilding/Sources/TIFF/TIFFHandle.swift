import CTIFF
import Glibc

/// A TIFF file opened by libtiff, at its first image. For one thread at a time.
final class TIFFHandle {
  let pointer: OpaquePointer
  private let subject: String
  private let messages: Messages

  /// The most that libtiff may allocate at a time: a tile, or the table of where the tiles are.
  private static let largestAllocation: tmsize_t = 1 << 28

  init(path: String) throws(BuildError) {
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
    // Unknown tags and their like: nothing that the pixels depend on.
    TIFFOpenOptionsSetWarningHandlerExtR(options, { _, _, _, _, _ in 1 }, owner)
    // Not mapped: a file that is cut short under a mapping ends the process.
    guard let pointer = TIFFOpenExt(path, "rm", options) else {
      throw BuildError(path, messages.first ?? "is no TIFF file")
    }
    self.pointer = pointer
  }

  deinit { TIFFClose(pointer) }

  /// An error with libtiff's own words, the first since the last call.
  func refused(_ action: String) -> BuildError {
    defer { messages.first = nil }
    return BuildError(subject, messages.first.map { "\(action): \($0)" } ?? action)
  }

  /// A field of 16 bits, or what the standard says where it is missing.
  func short(_ tag: Int32) -> Int {
    var value: UInt16 = 0
    return withUnsafeMutablePointer(to: &value) { out in
      withVaList([out]) { TIFFVGetFieldDefaulted(pointer, UInt32(tag), $0) }
    } == 1 ? Int(value) : 0
  }

  /// A field of 32 bits, or nil.
  func long(_ tag: Int32) -> Int? {
    var value: UInt32 = 0
    let isThere = withUnsafeMutablePointer(to: &value) { out in
      withVaList([out]) { TIFFVGetField(pointer, UInt32(tag), $0) }
    }
    return isThere == 1 ? Int(value) : nil
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

  /// The first of the errors that libtiff reports for one handle.
  private final class Messages {
    var first: String?

    func take(_ format: UnsafePointer<CChar>?, _ arguments: CVaListPointer) {
      guard first == nil, let format else { return }
      var text = [CChar](repeating: 0, count: 256)
      vsnprintf(&text, text.count, format, arguments)
      let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      // File names and tag values of a hostile file may hold anything.
      first = String(decoding: bytes.map { $0 < 0x20 ? 0x20 : $0 }, as: UTF8.self)
    }
  }
}

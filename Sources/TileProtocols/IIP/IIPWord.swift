/// The case-insensitive name of a command or object.
struct IIPWord {
  private let bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// - Parameters:
  ///   - text: in lower case.
  ///   - start: the first byte of `text` to compare; the name ends where `text` ends.
  @inline(__always)
  func isSame(_ text: StaticString, from start: Int = 0) -> Bool {
    guard bytes.count == text.utf8CodeUnitCount - start else { return false }
    var at = 0
    while at < bytes.count {
      let byte = bytes[at]
      let lower = byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
      guard lower == text.utf8Start[start + at] else { return false }
      at += 1
    }
    return true
  }
}

/// The possible sizes of a space's files. They reveal little of the content.
///
/// The classes are Padmé (Nikitin and others, "Reducing Metadata Leakage from Encrypted Files and Communication with
/// PURBs", 2019, section 4). The number of binary digits of a size determines the number of zeros at its end. A file
/// grows by at most 6%, and a smaller file to `least`.
enum SizeClass {
  /// The minimum size in bytes. The index of a space, sidecars and the smallest pictures have it.
  static let least = 32 << 10

  /// Returns the smallest size class of at least `count` bytes.
  static func size(holding count: Int) -> Int {
    guard count > least else { return least }
    let exponent = Int.bitWidth - 1 - count.leadingZeroBitCount
    let digits = Int.bitWidth - exponent.leadingZeroBitCount
    let step = 1 << (exponent - digits)
    return (count + step - 1) & ~(step - 1)
  }

  /// Returns a text's length (eight bytes, little-endian), the text, and zeros up to a size class.
  /// - Parameter frame: the size of the other parts of the file, in bytes.
  static func padded(_ text: [UInt8], frame: Int) -> [UInt8] {
    let start = text.count.littleEndianBytes + text
    return start + repeatElement(0, count: size(holding: start.count + frame) - start.count - frame)
  }

  /// Returns the text without padding; nil if its length is invalid.
  static func text(ofPadded plain: [UInt8]) -> ArraySlice<UInt8>? {
    guard plain.count >= 8 else { return nil }
    let stated = plain.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    guard let count = Int(exactly: stated), count <= plain.count - 8 else { return nil }
    return plain[8..<8 + count]
  }

  /// Returns a random class from `least` to the one that holds `count` bytes. Smaller and larger sizes are equally
  /// likely.
  static func random(upTo count: Int) -> Int {
    count <= least ? least : size(holding: least + Sodium.random(below: count - least + 1))
  }
}

extension FixedWidthInteger {
  /// The bytes of the number, the least significant first.
  var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}

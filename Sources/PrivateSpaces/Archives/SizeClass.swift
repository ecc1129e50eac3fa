/// The sizes that files of a space have, so that a size tells little of what is in the file.
///
/// Padmé (Nikitin and others, "Reducing Metadata Leakage from Encrypted Files and Communication with PURBs",
/// 2019, section 4): of a size of so many binary digits that many zeros at the end follow from how many
/// digits there are. A file grows by 6% at most, the smaller ones to `least`.
enum SizeClass {
  /// Bytes; what a space's index, what was written about a picture, and the smallest pictures take.
  static let least = 32 << 10

  /// The smallest size of all classes that is not below `count` bytes.
  static func size(holding count: Int) -> Int {
    guard count > least else { return least }
    let exponent = Int.bitWidth - 1 - count.leadingZeroBitCount
    let digits = Int.bitWidth - exponent.leadingZeroBitCount
    let step = 1 << (exponent - digits)
    return (count + step - 1) & ~(step - 1)
  }

  /// Returns a text's length (eight bytes, little-endian), the text, and zeros up to a class of sizes.
  /// - Parameter frame: the bytes that a file has besides these.
  static func padded(_ text: [UInt8], frame: Int) -> [UInt8] {
    let start = text.count.littleEndianBytes + text
    return start + repeatElement(0, count: size(holding: start.count + frame) - start.count - frame)
  }

  /// Returns the text that was padded; nil if the length cannot be.
  static func text(ofPadded plain: [UInt8]) -> ArraySlice<UInt8>? {
    guard plain.count >= 8 else { return nil }
    let stated = plain.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    guard let count = Int(exactly: stated), count <= plain.count - 8 else { return nil }
    return plain[8..<8 + count]
  }

  /// A class from `least` to the one that holds `count` bytes, the smaller and the larger ones as likely.
  static func random(upTo count: Int) -> Int {
    count <= least ? least : size(holding: least + Sodium.random(below: count - least + 1))
  }
}

extension FixedWidthInteger {
  /// The bytes of the number, the least significant first.
  var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}

import Foundation

/// A line of JSON.
enum JSONLine {
  /// Returns a value, which always encodes, as a line with its end. Keys are sorted.
  static func encode(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try! encoder.encode(value)) + [UInt8(ascii: "\n")]
  }
}

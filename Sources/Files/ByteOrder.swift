/// The order in which a file has the bytes of its numbers.
package enum ByteOrder: Sendable {
  /// The lowest byte comes first.
  case little
  /// The highest byte comes first.
  case big

  /// Returns the number of at most eight bytes; `Int.max` if it is larger.
  package func number(_ bytes: ArraySlice<UInt8>) -> Int {
    var number: UInt64 = 0
    switch self {
    case .little: for byte in bytes.reversed() { number = number << 8 | UInt64(byte) }
    case .big: for byte in bytes { number = number << 8 | UInt64(byte) }
    }
    return Int(clamping: number)
  }

  package func number(_ bytes: [UInt8]) -> Int { number(bytes[...]) }

  /// Returns the number of `count` bytes from `place` on.
  package func number(_ bytes: [UInt8], at place: Int, _ count: Int) -> Int {
    number(bytes[place..<place + count])
  }

  /// Returns the lowest `count` bytes of a number, eight at most.
  package func bytes(_ number: Int, _ count: Int) -> [UInt8] {
    let bytes = withUnsafeBytes(of: number.littleEndian) { Array($0.prefix(count)) }
    return self == .little ? bytes : bytes.reversed()
  }
}

/// A parser of the numbers and marks in a part of a path, from left to right, without a string.
struct PathReader {
  private let bytes: UnsafeRawBufferPointer
  private var at = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  init(_ path: RawPath, from start: Int, to end: Int) { bytes = path.bytes(start..<end) }

  var isAtEnd: Bool { at == bytes.count }

  /// The bytes that are not read yet.
  var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[at...]) }

  @inline(__always)
  mutating func skip(_ byte: UInt8) -> Bool {
    guard at < bytes.count, bytes[at] == byte else { return false }
    at += 1
    return true
  }

  @inline(__always)
  mutating func skip(_ text: StaticString) -> Bool {
    guard RawPath(bytes).has(text, at: at) else { return false }
    at += text.utf8CodeUnitCount
    return true
  }

  /// Reads a number of a tile's name. It has one spelling: no leading zeros.
  mutating func number() -> Int? {
    let start = at
    guard let number = digits(atMost: 12), at - start == 1 || bytes[start] != UInt8(ascii: "0") else {
      return nil
    }
    return number
  }

  /// Reads the three numbers of a tile's name, with a mark behind the first and the second, and a point behind the
  /// third.
  @inline(__always)
  mutating func tile(_ mark: UInt8, _ otherMark: UInt8) -> (Int, Int, Int)? {
    guard let first = number(), skip(mark), let second = number(), skip(otherMark), let third = number(),
      skip(UInt8(ascii: "."))
    else { return nil }
    return (first, second, third)
  }

  /// Reads a number that may have leading zeros; returns nil also if it has more than `most` digits.
  mutating func digits(atMost most: Int = 15) -> Int? {
    var number = 0
    let start = at
    while at < bytes.count, case let digit = bytes[at] &- UInt8(ascii: "0"), digit <= 9 {
      guard at - start < most else { return nil }
      number = number * 10 + Int(digit)
      at += 1
    }
    return at > start ? number : nil
  }

  /// Returns the bytes before the next `byte` and skips it; nil if no `byte` follows.
  mutating func part(before byte: UInt8) -> UnsafeRawBufferPointer? {
    var end = at
    while end < bytes.count, bytes[end] != byte { end += 1 }
    guard end < bytes.count else { return nil }
    defer { at = end + 1 }
    return UnsafeRawBufferPointer(rebasing: bytes[at..<end])
  }
}

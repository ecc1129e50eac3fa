import Glibc

/// The order in which people count: page 2 before page 10, whatever stands before or behind the numbers.
///
/// Runs of ASCII digits are compared as whole numbers of any length, all else by its bytes (UTF-8); what is the same
/// then, as 7 and 007, by all of its bytes, so that no two texts are level.
package enum NaturalOrder {
  private static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }

  /// Text that stands, byte by byte, as its source stands in this order, for an index that knows no other. Sources that
  /// differ by leading zeros alone have one key.
  ///
  /// Each number is its digits without leading zeros, behind how many they are: 0 to 8, or a 9 and what is left of the
  /// count. So a longer number comes later, and every number where its digits would.
  package static func key(_ text: String) -> String {
    var key: [UInt8] = []
    key.reserveCapacity(text.utf8.count + 8)
    var rest = Substring(text).utf8
    while let byte = rest.first {
      guard isDigit(byte) else {
        key.append(byte)
        rest.removeFirst()
        continue
      }
      let number = rest.prefix(while: isDigit)
      let digits = number.drop { $0 == 0x30 }
      key += [UInt8](repeating: 0x39, count: digits.count / 9) + [0x30 + UInt8(digits.count % 9)]
      key += digits
      rest = rest[number.endIndex...]
    }
    // Digits more or less leave UTF-8 what it is.
    return String(decoding: key, as: UTF8.self)
  }

  /// Whether the one stands before the other.
  package static func precedes(_ one: String, _ other: String) -> Bool {
    var (one, other) = (one, other)
    return one.withUTF8 { one in
      other.withUTF8 { compare(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer($0)) < 0 }
    }
  }

  /// Below 0 where the one stands before the other, 0 where their bytes are the same.
  static func compare(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int {
    let shorter = min(one.count, other.count)
    var at = 0
    while at < shorter, one[at] == other[at] { at += 1 }
    if at == shorter, one.count == other.count { return 0 }
    // The first difference may lie within a number.
    while at > 0, isDigit(one[at - 1]) { at -= 1 }
    var (left, right) = (at, at)
    while left < one.count, right < other.count {
      guard isDigit(one[left]), isDigit(other[right]) else {
        guard one[left] == other[right] else { return Int(one[left]) - Int(other[right]) }
        left = left + 1
        right = right + 1
        continue
      }
      let (ours, theirs) = (number(one, &left), number(other, &right))
      if ours.count != theirs.count { return ours.count - theirs.count }
      for (our, their) in zip(ours, theirs) where our != their { return Int(our) - Int(their) }
    }
    if left < one.count || right < other.count { return (one.count - left) - (other.count - right) }
    let order = memcmp(one.baseAddress!, other.baseAddress!, shorter)
    return order == 0 ? one.count - other.count : Int(order)
  }

  /// The digits of the number that stands there, without leading zeros; `at` is behind it then.
  private static func number(_ text: UnsafeRawBufferPointer, _ at: inout Int) -> Slice<UnsafeRawBufferPointer>
  {
    while at < text.count, text[at] == 0x30 { at += 1 }
    let start = at
    while at < text.count, isDigit(text[at]) { at += 1 }
    return text[start..<at]
  }
}

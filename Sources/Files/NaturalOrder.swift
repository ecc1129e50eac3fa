import Glibc

/// The natural order of text with numbers: page 2 before page 10, with any text before or behind the numbers.
///
/// Runs of ASCII digits are compared as whole numbers of any length, all else by its UTF-8 bytes. Texts that are then
/// equal, such as 7 and 007, are compared by all of their bytes, so that no two different texts are equal.
package enum NaturalOrder {
  private static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }

  /// Returns a key whose order by bytes is the natural order of the texts, for an index with no other order. Texts that
  /// differ by leading zeros alone have the same key.
  ///
  /// The key contains each number's digits without leading zeros, preceded by their count. The count is 0 to 8, or a 9
  /// and the rest of the count. So a longer number comes later, and numbers keep their order among other bytes.
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
    // Additional digits keep the text valid UTF-8.
    return String(decoding: key, as: UTF8.self)
  }

  /// Whether the first text precedes the second.
  package static func precedes(_ one: String, _ other: String) -> Bool {
    var (one, other) = (one, other)
    return one.withUTF8 { one in
      other.withUTF8 { compare(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer($0)) < 0 }
    }
  }

  /// Returns a number below 0 if the first text precedes the second, 0 if their bytes are equal.
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

  /// Returns the digits of the number at this position, without leading zeros; `at` is behind it then.
  private static func number(_ text: UnsafeRawBufferPointer, _ at: inout Int) -> Slice<UnsafeRawBufferPointer>
  {
    while at < text.count, text[at] == 0x30 { at += 1 }
    let start = at
    while at < text.count, isDigit(text[at]) { at += 1 }
    return text[start..<at]
  }
}

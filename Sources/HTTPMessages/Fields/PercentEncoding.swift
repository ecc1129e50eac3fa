/// Percent-encoding (RFC 3986, section 2.1).
package enum PercentEncoding {
  /// Returns the decoded bytes, or nil if an escape is malformed or decodes to NUL.
  /// - Parameter allowsNUL: whether NUL is decoded as well, for bytes that do not become a C string.
  package static func decode(_ text: some Collection<UInt8>, allowsNUL: Bool = false) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        guard byte != 0 || allowsNUL else { return nil }
        bytes.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(hexDigit), let low = rest.next().flatMap(hexDigit) else {
        return nil
      }
      let value = high << 4 | low
      guard value != 0 || allowsNUL else { return nil }
      bytes.append(value)
    }
    return bytes
  }

  /// Returns the decoded text; nil also if the bytes are not UTF-8.
  package static func decodedString(_ text: some Collection<UInt8>) -> String? {
    // Nearly all texts have no escapes.
    if let plain = text.withContiguousStorageIfAvailable(plainText) ?? nil { return plain }
    return decode(text).flatMap { String(validating: $0, as: UTF8.self) }
  }

  /// Returns the text itself if it is ASCII without escapes and NUL; else nil.
  private static func plainText(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
    guard bytes.allSatisfy({ $0 != 0 && $0 < 0x80 && $0 != UInt8(ascii: "%") }) else { return nil }
    return String(unsafeUninitializedCapacity: bytes.count) { $0.initialize(fromContentsOf: bytes) }
  }

  /// Escapes everything except unreserved characters: `a/b` becomes `a%2Fb`.
  package static func encode(_ text: String) -> String {
    // Most ids need no escape.
    text.utf8.allSatisfy(isUnreserved) ? text : encode(bytes: text.utf8)
  }

  /// Escapes bytes that need not be UTF-8.
  package static func encode(bytes: some Sequence<UInt8>) -> String {
    var result = ""
    for byte in bytes {
      if isUnreserved(byte) {
        result.append(Character(UnicodeScalar(byte)))
      } else {
        result += escaped(byte)
      }
    }
    return result
  }

  /// Escapes the bytes of a received path or query that are invalid in a URI (RFC 3986, appendix A); escapes stay.
  package static func repaired(_ text: some Sequence<UInt8>) -> String {
    let others = Array("%:/?#[]@!$&'()*+,;=".utf8)
    return text.map { byte in
      let character = String(UnicodeScalar(byte))
      return isUnreserved(byte) || others.contains(byte) ? character : escaped(byte)
    }.joined()
  }

  private static func escaped(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return digits.count == 1 ? "%0\(digits)" : "%\(digits)"
  }

  /// Whether the byte is an unreserved character (RFC 3986, section 2.3).
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  package static func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

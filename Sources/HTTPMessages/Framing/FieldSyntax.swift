/// The syntax of headers' names and values.
package enum FieldSyntax {
  /// Whether a header's name is a token (RFC 9110, section 5.6.2).
  package static func isToken(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    for byte in name {
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d: continue
      case 0x21, 0x23...0x27, 0x2a, 0x2b, 0x2e, 0x5e...0x60, 0x7c, 0x7e: continue
      default: return false
      }
    }
    return !name.isEmpty
  }

  /// Whether a Host is valid by its characters (RFC 3986, section 3.2.2); an empty one is allowed.
  package static func isHost(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var count = text.count
    while count > 0, text[count - 1] == 0x20 || text[count - 1] == 0x09 { count -= 1 }
    for at in 0..<count {
      switch text[at] {
      case 0x30...0x3b, 0x41...0x5b, 0x61...0x7a, 0x2d, 0x2e: continue
      case 0x21, 0x24...0x2c, 0x3d, 0x5d, 0x5f, 0x7e: continue
      default: return false
      }
    }
    return true
  }

  /// Whether the text is a word in any case.
  /// - Parameter word: letters and hyphens, in lower case.
  static func isSame(_ text: UnsafeBufferPointer<UInt8>, _ word: StaticString) -> Bool {
    guard text.count == word.utf8CodeUnitCount else { return false }
    for at in 0..<text.count {
      let byte = text[at]
      if ((0x41...0x5a).contains(byte) ? byte | 0x20 : byte) != word.utf8Start[at] { return false }
    }
    return true
  }
}

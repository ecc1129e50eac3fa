/// The part of an XML text in front of its root element (XML 1.0, section 2.8).
enum XMLProlog {
  /// Whether bytes may begin an XML text in UTF-8 or UTF-16.
  static func mayBegin(_ bytes: [UInt8]) -> Bool {
    let marks: [[UInt8]] = [[0xef, 0xbb, 0xbf], [0xff, 0xfe], [0xfe, 0xff], [0x3c, 0], [0, 0x3c]]
    if marks.contains(where: { bytes.starts(with: $0) }) { return true }
    return bytes.first { !isSpace($0) } == UInt8(ascii: "<")
  }

  /// The name of the root element, without its prefix; nil if there is none in these bytes.
  static func root(of bytes: [UInt8]) -> String? {
    let text = utf8(bytes)
    var rest = text[...]
    if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = rest.dropFirst(3) }
    while true {
      rest = rest.drop(while: isSpace)
      if rest.starts(with: "<?".utf8) {
        guard let end = rest.firstRange(of: Array("?>".utf8)) else { return nil }
        rest = rest[end.upperBound...]
      } else if rest.starts(with: "<!--".utf8) {
        guard let end = rest.dropFirst(4).firstRange(of: Array("-->".utf8)) else { return nil }
        rest = rest[end.upperBound...]
      } else if rest.starts(with: "<!DOCTYPE".utf8) {
        guard let end = endOfDocumentType(rest) else { return nil }
        rest = rest[end...]
      } else {
        guard rest.first == UInt8(ascii: "<") else { return nil }
        let name = rest.dropFirst().prefix { !isSpace($0) && !">/".utf8.contains($0) }
        guard name.endIndex < rest.endIndex else { return nil }
        return String(decoding: name.split(separator: UInt8(ascii: ":")).last ?? [], as: UTF8.self)
      }
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }

  /// Returns the place behind a document type, which may have declarations in brackets.
  private static func endOfDocumentType(_ text: ArraySlice<UInt8>) -> Int? {
    var (isInside, quote): (Bool, UInt8?) = (false, nil)
    for (at, byte) in zip(text.indices, text) {
      switch byte {
      case _ where quote != nil: if byte == quote { quote = nil }
      case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
      case UInt8(ascii: "["): isInside = true
      case UInt8(ascii: "]"): isInside = false
      case UInt8(ascii: ">") where !isInside: return at + 1
      default: break
      }
    }
    return nil
  }

  private static func utf8(_ bytes: [UInt8]) -> [UInt8] {
    let isLittle = bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0x3c, 0])
    guard isLittle || bytes.starts(with: [0xfe, 0xff]) || bytes.starts(with: [0, 0x3c]) else { return bytes }
    let (low, high) = isLittle ? (0, 1) : (1, 0)
    let units = stride(from: 0, to: bytes.count - 1, by: 2).map { (at: Int) -> UInt16 in
      UInt16(bytes[at + high]) << 8 | UInt16(bytes[at + low])
    }
    return Array(String(decoding: units, as: UTF16.self).trimmingPrefix("\u{feff}").utf8)
  }
}

import ZigguratCXXHash

/// A strong entity tag (ETag; RFC 9110, section 8.8.3), as text with its quotes.
package struct EntityTag: Hashable, Sendable {
  package let text: String

  /// - Parameter text: with its quotes.
  package init(text: String) { self.text = text }

  init(_ opaque: String) { text = "\"\(opaque)\"" }

  /// Creates the tag of bytes in memory from their XXH3-64 and their length.
  package init(of bytes: [UInt8]) {
    let hash = XXH3_64bits(bytes, bytes.count)
    self.init(String(hash, radix: 16) + "." + String(bytes.count, radix: 16))
  }

  /// Creates the tag of bytes in memory that are followed by the tiles that they list.
  package init(of bytes: [UInt8], generation: UInt64) {
    self.init(EntityTag(of: bytes).text.dropFirst().dropLast() + "-" + String(generation, radix: 16))
  }

  /// The end of a compressed answer's tag, which is otherwise the tag of the plain bytes.
  static let compressedEnd: StaticString = ".gz\""

  /// Whether an If-Match header contains this tag (RFC 9110, section 13.1.1).
  package func isMatched(byIfMatch header: String) -> Bool {
    var (header, text) = (header, text)
    return header.withUTF8 { header in text.withUTF8 { EntityTagList(header).names($0, .strong) } }
  }
}

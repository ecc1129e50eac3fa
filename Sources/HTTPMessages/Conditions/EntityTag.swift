import CXXHash

/// A strong entity tag (RFC 9110, section 8.8.3), as text with its quotes.
package struct EntityTag: Hashable, Sendable {
  package let text: String

  /// - Parameter text: with its quotes.
  package init(text: String) { self.text = text }

  init(_ opaque: String) { text = "\"\(opaque)\"" }

  /// Of a tile: the archive's generation and the tile's index, the same through every protocol.
  /// - Parameter stamp: of a tile that may change while the generation stays.
  package init(generation: UInt64, tile: Int, stamp: UInt64) {
    self.init(String(generation ^ stamp, radix: 16) + "-" + String(tile, radix: 16))
  }

  /// Of bytes made in memory.
  package init(of bytes: [UInt8]) {
    let hash = XXH3_64bits(bytes, bytes.count)
    self.init(String(hash, radix: 16) + "." + String(bytes.count, radix: 16))
  }

  /// Of bytes made in memory and followed by tiles that they name.
  package init(of bytes: [UInt8], generation: UInt64) {
    self.init(EntityTag(of: bytes).text.dropFirst().dropLast() + "-" + String(generation, radix: 16))
  }

  /// Whether an If-None-Match header names this tag: a list, `*`, and weak tags count
  /// (RFC 9110, section 13.1.2: weak comparison).
  package func isMatched(byIfNoneMatch header: String) -> Bool {
    let header = header.drop { $0 == " " || $0 == "\t" }
    if header.first == "*" { return true }
    var rest = header[...]
    while let open = rest.firstIndex(of: "\"") {
      guard let close = rest[rest.index(after: open)...].firstIndex(of: "\"") else { return false }
      if rest[open...close] == text { return true }
      rest = rest[rest.index(after: close)...]
    }
    return false
  }

  /// Whether an If-Match header names this tag: strong comparison, in which weak tags do not count
  /// (RFC 9110, section 13.1.1); a compressed answer's tag stands for what was compressed.
  package func isMatched(byIfMatch header: String) -> Bool {
    header.split(separator: ",").contains { part in
      let tag = part.trimmingPrefix(while: \.isWhitespace).prefix { !$0.isWhitespace }
      return tag == "*" || tag.replacing(".gz\"", with: "\"") == text
    }
  }
}

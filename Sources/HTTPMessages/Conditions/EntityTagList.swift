import Glibc

/// The list of entity tags in an If-Match or If-None-Match header (RFC 9110, sections 8.8.3 and 13.1), parsed in place.
package struct EntityTagList {
  private let bytes: UnsafeBufferPointer<UInt8>

  /// - Parameter bytes: the header's value; for several lines all, separated by commas.
  package init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// The comparison of two tags (RFC 9110, section 8.8.3.2).
  package enum Comparison {
    /// The comparison of If-Match: weak tags equal none. A compressed answer's tag also matches the plain bytes.
    case strong
    /// The comparison of If-None-Match.
    case weak
  }

  /// Whether the list contains the tag, or an asterisk, which matches any. The rest of a malformed list is ignored.
  /// - Parameter tag: a strong tag, with its quotes; nil if there is no tag.
  package func names(_ tag: UnsafeBufferPointer<UInt8>?, _ comparison: Comparison) -> Bool {
    // Nearly always the header is this one tag.
    if let tag, bytes.count == tag.count, let text = bytes.baseAddress, let own = tag.baseAddress,
      memcmp(text, own, tag.count) == 0
    {
      return true
    }
    var at = 0
    while true {
      while at < bytes.count, Self.isBlank(bytes[at]) || bytes[at] == UInt8(ascii: ",") { at += 1 }
      guard at < bytes.count else { return false }
      if bytes[at] == UInt8(ascii: "*") { return isEndOfElement(at + 1) }
      let isWeak =
        bytes[at] == UInt8(ascii: "W") && at + 1 < bytes.count && bytes[at + 1] == UInt8(ascii: "/")
      if isWeak { at += 2 }
      guard at < bytes.count, bytes[at] == Self.quote,
        let close = bytes[(at + 1)...].firstIndex(of: Self.quote), isEndOfElement(close + 1)
      else { return false }
      let element = UnsafeBufferPointer(rebasing: bytes[at...close])
      if let tag, Self.isSame(element, tag, comparison, isWeak) { return true }
      at = close + 1
    }
  }

  private static let quote = UInt8(ascii: "\"")

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private func isEndOfElement(_ start: Int) -> Bool {
    var at = start
    while at < bytes.count, Self.isBlank(bytes[at]) { at += 1 }
    return at == bytes.count || bytes[at] == UInt8(ascii: ",")
  }

  private static func isSame(
    _ element: UnsafeBufferPointer<UInt8>, _ tag: UnsafeBufferPointer<UInt8>, _ comparison: Comparison,
    _ isWeak: Bool
  ) -> Bool {
    switch comparison {
    case .weak: return element.elementsEqual(tag)
    case .strong:
      if isWeak { return false }
      if element.elementsEqual(tag) { return true }
      let end = EntityTag.compressedEnd
      let plain = element.count - end.utf8CodeUnitCount
      guard plain == tag.count - 1,
        element[plain...].elementsEqual(
          UnsafeBufferPointer(start: end.utf8Start, count: end.utf8CodeUnitCount))
      else { return false }
      return element[..<plain].elementsEqual(tag[..<plain])
    }
  }
}

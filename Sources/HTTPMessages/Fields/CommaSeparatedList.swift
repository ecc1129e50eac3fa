/// Comma-separated lists, as in options and header fields (RFC 9110, section 5.6.1).
package enum CommaSeparatedList {
  /// Returns the items without surrounding whitespace, including empty ones.
  package static func of(_ text: some StringProtocol) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map { part in
      var item = Substring(part)
      while let first = item.first, isBlank(first) { item.removeFirst() }
      while let last = item.last, isBlank(last) { item.removeLast() }
      return String(item)
    }
  }

  private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
}

/// Words separated by commas, as in options and headers (RFC 9110, section 5.6.1).
package enum CommaSeparatedList {
  /// Returns the words without the blanks around them, empty ones included.
  package static func of(_ text: some StringProtocol) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map { part in
      var word = Substring(part)
      while let first = word.first, isBlank(first) { word.removeFirst() }
      while let last = word.last, isBlank(last) { word.removeLast() }
      return String(word)
    }
  }

  private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
}

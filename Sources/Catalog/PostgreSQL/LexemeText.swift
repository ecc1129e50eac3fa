import Foundation

/// Words as PostgreSQL's `tsvector` and `tsquery` have them (section 8.11 of its manual), split as SQLite's index splits
/// them and not as PostgreSQL's own parser does, so that a search finds the same images in both.
enum LexemeText {
  /// The maximum size of a `tsvector`'s words with its overhead, bytes. Two of them joined must stay below a megabyte.
  private static let mostBytes = 450_000
  /// A lexeme is below 2 KB.
  private static let mostCharacters = 200

  /// The words of a text with their places, as a `tsvector`.
  static func vector(_ text: String) -> String {
    var result = ""
    var (place, bytes) = (0, 0)
    for word in terms(text) {
      place += 1
      bytes += word.utf8.count + 20
      if bytes > mostBytes { break }
      // Places behind this are one (the same section).
      result += "'\(word)':\(min(place, 16383)) "
    }
    return result
  }

  /// Every word begins one of the image's; the parts of one stand side by side. Nil where nothing can be found.
  /// - Parameter scope: of a book's pages what is said of the book does not count.
  static func query(_ search: SearchTerms, in scope: ListScope = .items) -> String? {
    let queries = queries(search, in: scope)
    return queries.isEmpty ? nil : queries.joined(separator: " & ")
  }

  /// The same, a query for each word; none where nothing can be found.
  static func queries(_ search: SearchTerms, in scope: ListScope = .items) -> [String] {
    let weight = if case .book = scope { "A" } else { "" }
    let conditions = search.terms.compactMap { word -> String? in
      let parts = terms(word)
      guard let last = parts.last else { return nil }
      let phrase = parts.dropLast().map { "'\($0)'\(weight.isEmpty ? "" : ":A") <-> " }.joined()
      return "(\(phrase)'\(last)':*\(weight))"
    }
    return conditions.count < search.terms.count ? [] : conditions
  }

  /// Nothing but letters, digits and marks, without accents and in lower case.
  static func terms(_ text: String) -> [String] {
    // Most texts, for which no tables are needed.
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      return text.utf8.split { !isLetterOrDigit($0) }.map { word in
        // The bit that makes letters small, and that digits have.
        String(decoding: word.prefix(mostCharacters).lazy.map { $0 | 0x20 }, as: UTF8.self)
      }
    }
    return text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
      .unicodeScalars.split { !SearchTerms.isToken($0) }
      .map { String(String.UnicodeScalarView($0.prefix(mostCharacters))) }
  }

  private static func isLetterOrDigit(_ ascii: UInt8) -> Bool {
    (0x61...0x7a).contains(ascii | 0x20) || (0x30...0x39).contains(ascii)
  }
}

import Foundation

/// The lexemes of PostgreSQL's `tsvector` and `tsquery` (section 8.11 of its manual). They are split as in SQLite's
/// index, not by PostgreSQL's parser, so that a search finds the same images in both.
enum LexemeText {
  /// The maximum size of a `tsvector` with its overhead, in bytes. Two of them joined must stay below a megabyte.
  private static let maxBytes = 450_000
  /// The maximum length of a lexeme in characters, since it must stay below 2 KB.
  private static let maxCharacters = 200

  /// Returns the lexemes of a text with their positions, as a `tsvector`.
  static func vector(_ text: String) -> String {
    var result = ""
    var (place, bytes) = (0, 0)
    for word in terms(text) {
      place += 1
      bytes += word.utf8.count + 20
      if bytes > maxBytes { break }
      // Larger positions are not distinguished (the same section).
      result += "'\(word)':\(min(place, 16383)) "
    }
    return result
  }

  /// Returns the query; nil if nothing can match. Each term must begin a word of the image, and its parts must be
  /// adjacent.
  /// - Parameter scope: in a book, pages do not match by the metadata of the book.
  static func query(_ search: SearchTerms, in scope: ListScope = .items) -> String? {
    let queries = queries(search, in: scope)
    return queries.isEmpty ? nil : queries.joined(separator: " & ")
  }

  /// Returns one query for each term; empty if nothing can match.
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

  /// Returns the lexemes of a text: letters, digits and marks, without accents and in lower case.
  static func terms(_ text: String) -> [String] {
    // Most texts are ASCII and need no tables.
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      return text.utf8.split { !isLetterOrDigit($0) }.map { word in
        // This bit is set in lower-case letters and in digits.
        String(decoding: word.prefix(maxCharacters).lazy.map { $0 | 0x20 }, as: UTF8.self)
      }
    }
    return text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
      .unicodeScalars.split { !SearchTerms.isToken($0) }
      .map { String(String.UnicodeScalarView($0.prefix(maxCharacters))) }
  }

  private static func isLetterOrDigit(_ ascii: UInt8) -> Bool {
    (0x61...0x7a).contains(ascii | 0x20) || (0x30...0x39).contains(ascii)
  }
}

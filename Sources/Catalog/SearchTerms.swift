import TileStorage
import ZigguratFiles

/// A user's search as terms of the full-text index.
struct SearchTerms {
  /// The terms. The parts of one term are adjacent and separated by a space.
  let terms: [String]

  /// Whether the search has no terms, and so finds nothing.
  var isEmpty: Bool { terms.isEmpty }

  /// - Parameter text: any text. Characters other than letters and digits only separate terms.
  init(_ text: String) {
    // More than any user enters.
    terms = Self.spaced(String(text.prefix(1000))).split(whereSeparator: \.isWhitespace).prefix(32).compactMap
    {
      let tokens = String($0).unicodeScalars.split { !Self.isToken($0) }
      return tokens.isEmpty ? nil : tokens.map(String.init).joined(separator: " ")
    }
  }

  /// Returns the query of FTS5; nil if nothing can match. Each term must begin a word of the image, and its parts must
  /// be adjacent.
  /// - Parameter scope: in a book, pages do not match by the metadata of the book.
  func query(in scope: ListScope = .items) -> String? {
    guard let query else { return nil }
    if case .book = scope { return "search : (\(query))" }
    return query
  }

  private var query: String? {
    // Only letters, marks and digits are between the quotes, so no query is a syntax error.
    terms.isEmpty ? nil : terms.map { "\"\($0)\" *" }.joined(separator: " AND ")
  }

  /// Returns the text of an image that searches look in.
  static func text(of id: ImageID, _ m: ImageMetadata) -> String {
    spaced(
      ([id.text, m.title, m.caption, m.creator, m.date, m.place, m.identifier, m.source, m.credit]
        .compactMap { $0 } + m.titles.values.sorted() + m.keywords)
        .joined(separator: "\n"))
  }

  /// Returns the text with separators around each character of scripts without spaces, so that each is a term.
  static func spaced(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnspaced) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      // A word joiner is not white space, so a phrase of a search remains one.
      if isUnspaced(scalar) { result.append("\u{2060}") }
      result.append(scalar)
      if isUnspaced(scalar) { result.append("\u{2060}") }
    }
    return String(result)
  }

  /// Whether a character belongs to a script without spaces: Thai, Lao, Burmese, Khmer, kana or Han.
  private static func isUnspaced(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0xe00...0xeff, 0x1000...0x109f, 0x1780...0x17ff, 0x3040...0x30ff, 0x3400...0x4dbf, 0x4e00...0x9fff,
      0xf900...0xfaff, 0x20000...0x3ffff:
      true
    default: false
    }
  }

  /// Whether a scalar is part of a token, as in the tokenizer (FTS5, section 4.3.1): a letter, digit, mark or private
  /// use.
  static func isToken(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber, .privateUse, .nonspacingMark, .spacingMark, .enclosingMark:
      true
    default: false
    }
  }
}

/// The terms of a search, for texts that are searched without an index. They match the same texts as with an index.
struct WantedTerms {
  /// The parts of each phrase. The last part of a phrase is a prefix.
  private let phrases: [[String]]

  init(_ search: SearchTerms) { phrases = search.terms.map(LexemeText.terms) }

  /// Whether the texts match all phrases.
  /// - Parameter texts: texts that no phrase spans.
  func areIn(_ texts: [String]) -> Bool {
    let terms = Array(texts.map(LexemeText.terms).joined(separator: [""]))
    return phrases.allSatisfy { phrase in
      guard let last = phrase.last else { return false }
      return terms.indices.contains { at in
        let end = at + phrase.count - 1
        return end < terms.count && terms[end].utf8.starts(with: last.utf8)
          && terms[at..<end].elementsEqual(phrase.dropLast())
      }
    }
  }
}

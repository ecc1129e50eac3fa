import TileStorage
import ZigguratFiles

/// A person's search as words of the full-text index.
struct SearchTerms {
  /// Each of the parts that stand side by side, with a space between two.
  let terms: [String]

  /// Whether nothing can be found.
  var isEmpty: Bool { terms.isEmpty }

  /// - Parameter text: anything at all; what is neither letter nor digit only separates words.
  init(_ text: String) {
    // Beyond any person's search.
    terms = Self.spaced(String(text.prefix(1000))).split(whereSeparator: \.isWhitespace).prefix(32).compactMap
    {
      let tokens = String($0).unicodeScalars.split { !Self.isToken($0) }
      return tokens.isEmpty ? nil : tokens.map(String.init).joined(separator: " ")
    }
  }

  /// Every word begins one of the image's; its parts stand side by side. Nil where nothing can be found.
  /// - Parameter scope: of a book's pages what is said of the book does not count.
  func query(in scope: ListScope = .items) -> String? {
    guard let query else { return nil }
    if case .book = scope { return "search : (\(query))" }
    return query
  }

  private var query: String? {
    // Nothing but letters, marks and digits stands between the quotes: no query is a syntax error.
    terms.isEmpty ? nil : terms.map { "\"\($0)\" *" }.joined(separator: " AND ")
  }

  /// All that a search looks in.
  static func text(of id: ImageID, _ m: ImageMetadata) -> String {
    spaced(
      ([id.text, m.title, m.caption, m.creator, m.date, m.place, m.identifier, m.source, m.credit]
        .compactMap { $0 } + m.titles.values.sorted() + m.keywords)
        .joined(separator: "\n"))
  }

  /// Spaces about the characters of scripts that write none between words, so that every character is one.
  static func spaced(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnspaced) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      // No white space: a phrase of a search stays one.
      if isUnspaced(scalar) { result.append("\u{2060}") }
      result.append(scalar)
      if isUnspaced(scalar) { result.append("\u{2060}") }
    }
    return String(result)
  }

  /// Thai, Lao, Burmese, Khmer; kana and Han.
  private static func isUnspaced(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0xe00...0xeff, 0x1000...0x109f, 0x1780...0x17ff, 0x3040...0x30ff, 0x3400...0x4dbf, 0x4e00...0x9fff,
      0xf900...0xfaff, 0x20000...0x3ffff:
      true
    default: false
    }
  }

  /// As the tokenizer has it (FTS5, section 4.3.1): letters, digits and private use; marks stay with their letters.
  static func isToken(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber, .privateUse, .nonspacingMark, .spacingMark, .enclosingMark:
      true
    default: false
    }
  }
}

/// The words of a search for texts that no index is asked for: what an index finds in them is found.
struct WantedTerms {
  /// The parts of each phrase. The last part of a phrase only begins a word.
  private let phrases: [[String]]

  init(_ search: SearchTerms) { phrases = search.terms.map(LexemeText.terms) }

  /// - Parameter texts: no phrase goes from one to the next.
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

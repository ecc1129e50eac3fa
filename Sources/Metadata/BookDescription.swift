import Foundation
package import TileStorage
import ZigguratFiles

/// The metadata of a book as a whole, besides that of its pages. It is the `book.json` in the folder of the pages, in
/// the sources or the library.
///
/// The file is untrusted. Lines and lists are bounded, and addresses are validated; one invalid value makes the file
/// invalid.
package struct BookDescription: Hashable, Sendable {
  /// The direction in which pages follow each other (IIIF Presentation 3.0, section 3.2).
  package enum ViewingDirection: String, CaseIterable, Sendable {
    case leftToRight = "left-to-right"
    case rightToLeft = "right-to-left"
    case topToBottom = "top-to-bottom"
    case bottomToTop = "bottom-to-top"
  }

  /// The presentation of pages (IIIF Presentation 3.0, section 3.2). The values exclude each other.
  package enum Behavior: String, CaseIterable, Sendable {
    case paged, continuous, individuals, unordered
  }

  /// A chapter of the book, listed before those inside it.
  package struct Chapter: Hashable, Sendable {
    package let title: String
    /// The name of its first page below the book, or the page's number.
    package let page: String
    /// The nesting level, counted from 0.
    package let level: Int

    package init(title: String, page: String, level: Int) {
      self.title = title
      self.page = page
      self.level = level
    }
  }

  package var metadata = ImageMetadata()
  package var viewingDirection: ViewingDirection?
  package var behavior: Behavior?
  package var chapters: [Chapter] = []
  /// The name below the book, or the number, of the page that represents it in lists; nil for its first page.
  package var cover: String?
  /// Whether a build wrote the file, and may rewrite it: a person's description in a library stays.
  package var isBuilt = false
  /// The digest that the build wrote; nil for a person's description, and in files of earlier versions.
  private var buildDigest: String?

  package init() {}

  package static let fileName = "book.json"
  /// The maximum size of such a file in bytes.
  package static let maxLength = InputLimit.book.bytes
  private static let (maxLineLength, maxTextLength) = (1000, 20_000)
  private static let (maxTexts, maxChapters, deepest) = (100, 2000, 8)

  /// The reason why a file is invalid, in a clause.
  package struct ValidationError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
  }

  package init(json: [UInt8]) throws(ValidationError) {
    guard json.count <= Self.maxLength else {
      throw ValidationError("has more than \(Self.maxLength >> 20) MB")
    }
    let text = JSONScanner(json)
    // The decoder accepts bytes of other encodings without an error.
    if let error = text.encodingError { throw ValidationError(error) }
    do { self = try InputLimit.book.json.decode(BookDescription.self, from: json) } catch let error
      as ValidationError
    {
      throw error
    } catch let error as JSONLimits.ValidationError {
      throw ValidationError(error.description)
    } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.keyNotFound(_, let context)
    {
      let place = context.codingPath.compactMap { $0.intValue == nil ? $0.stringValue : nil }
      guard let member = place.first else { throw ValidationError("is not a JSON object") }
      let line = text.outline().members.first { $0.name == member }?.line
      throw ValidationError(
        "has a '\(place.joined(separator: ".").prefix(100))' of a wrong type"
          + (line.map { " (line \($0))" } ?? ""))
    } catch { throw ValidationError(text.syntaxError ?? "is not valid JSON") }
  }

  /// The JSON with sorted keys: the same description gives the same bytes.
  package var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    // Strings and numbers always encode.
    return Array(try! encoder.encode(self)) + [0x0a]
  }

  /// Removes chapters from the end until the JSON has at most `most` bytes, if that suffices.
  package mutating func cutChapters(to most: Int) {
    while !chapters.isEmpty, json.count > most { chapters.removeLast(max(chapters.count / 4, 1)) }
  }

  package var isEmpty: Bool {
    metadata.isEmpty && viewingDirection == nil && behavior == nil && chapters.isEmpty && cover == nil
  }

  /// Returns the metadata of the book. Missing creators and rights are taken from its first page.
  /// - Parameter title: the title that all of its pages have.
  package func merged(besides first: ImageMetadata, title: String?) -> ImageMetadata {
    var merged = metadata
    if merged.title == nil, merged.titles.isEmpty {
      merged.title = title
      if title != nil, title == first.title { merged.titles = first.titles }
    }
    if merged.creators.isEmpty { merged.creators = first.creators }
    merged.date = merged.date ?? first.date
    merged.place = merged.place ?? first.place
    if merged.rights == nil, merged.license == nil {
      merged.rights = first.rights
      merged.license = first.license
      merged.webStatement = first.webStatement
      merged.usageTerms = merged.usageTerms ?? first.usageTerms
    }
    merged.source = merged.source ?? first.source
    merged.credit = merged.credit ?? first.credit
    if merged.keywords.isEmpty { merged.keywords = first.keywords }
    return merged
  }
}

extension BookDescription: Codable {
  private enum Key: String, CodingKey, CaseIterable {
    case title, creator, creators, date, description, place, rights, license, identifier, keywords
    case viewingDirection, behavior, chapters, cover, built, buildDigest
  }

  /// One text, or a list of texts.
  private struct Texts: Decodable {
    var texts: [String] = []

    init(from decoder: any Decoder) throws {
      if let text = try? decoder.singleValueContainer().decode(String.self) {
        texts = [text]
        return
      }
      var list = try decoder.unkeyedContainer()
      while !list.isAtEnd {
        guard texts.count < maxTexts else { throw ValidationError("has a list of more than \(maxTexts)") }
        texts.append(try list.decode(String.self))
      }
    }
  }

  private struct Entry: Codable {
    let title: String
    let page: Page
    let level: Int?
  }

  /// A date, or a year as a number.
  private struct Year: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      text = try (try? value.decode(Int.self)).map(String.init) ?? value.decode(String.self)
    }
  }

  /// A name, or a number.
  private struct Page: Codable {
    let name: String

    init(_ name: String) { self.name = name }

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      name = try (try? value.decode(Int.self)).map(String.init) ?? value.decode(String.self)
    }

    func encode(to encoder: any Encoder) throws {
      var value = encoder.singleValueContainer()
      try value.encode(name)
    }
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    cover = try fields.decodeIfPresent(Page.self, forKey: .cover).flatMap { Self.line($0.name) }
    func line(_ key: Key) throws -> String? {
      try fields.decodeIfPresent(String.self, forKey: key).flatMap { Self.line($0) }
    }
    func lines(_ key: Key) throws -> [String] {
      try fields.decodeIfPresent(Texts.self, forKey: key)?.texts.compactMap { Self.line($0) } ?? []
    }
    if let title = try? fields.decode(String.self, forKey: .title) {
      metadata.title = Self.line(title)
    } else if let titles = try fields.decodeIfPresent([String: Texts].self, forKey: .title) {
      guard titles.count <= Self.maxTexts else { throw ValidationError("has a title in too many languages") }
      for (tag, texts) in titles.sorted(by: { $0.key < $1.key }) {
        guard let text = texts.texts.lazy.compactMap({ Self.line($0) }).first else { continue }
        if ["none", "@none", ""].contains(tag) {
          metadata.title = text
        } else if tag.utf8.count <= 35, tag.utf8.allSatisfy({ Self.isOfTags($0) }) {
          metadata.titles[tag] = text
        } else {
          throw ValidationError("has a title in '\(tag.prefix(40))', which is not a language tag")
        }
      }
      metadata.title = metadata.title ?? Self.usualTitle(metadata.titles)
    }
    metadata.creators = try lines(.creators) + lines(.creator)
    metadata.date = try fields.decodeIfPresent(Year.self, forKey: .date).flatMap { Self.line($0.text) }
    metadata.caption = try fields.decodeIfPresent(String.self, forKey: .description).flatMap {
      let text = ImageMetadata.cut($0, Self.maxTextLength).trimmingCharacters(in: .whitespacesAndNewlines)
      return text.isEmpty ? nil : text
    }
    metadata.place = try line(.place)
    metadata.rights = try line(.rights)
    metadata.identifier = try line(.identifier)
    metadata.keywords = try lines(.keywords)
    if let license = try line(.license) {
      guard let address = ImageMetadata.webAddress(license) else {
        throw ValidationError("has the license '\(license.prefix(40))', which is not a URL")
      }
      metadata.license = address
    }
    if let text = try line(.viewingDirection) { viewingDirection = try Self.one(text, .viewingDirection) }
    let behaviors = try lines(.behavior)
    guard behaviors.count <= 1 else { throw ValidationError("has behaviors that exclude each other") }
    if let text = behaviors.first { behavior = try Self.one(text, .behavior) }
    if fields.contains(.chapters) {
      var list = try fields.nestedUnkeyedContainer(forKey: .chapters)
      while !list.isAtEnd {
        guard chapters.count < Self.maxChapters else {
          throw ValidationError("has more than \(Self.maxChapters) chapters")
        }
        let entry = try list.decode(Entry.self)
        let level = entry.level ?? 0
        guard (0..<Self.deepest).contains(level), let title = Self.line(entry.title), !entry.page.name.isEmpty
        else {
          throw ValidationError(
            "has a chapter without a title or page, or of a level that is not 0 to \(Self.deepest - 1)")
        }
        chapters.append(
          Chapter(title: title, page: String(entry.page.name.prefix(Self.maxLineLength)), level: level))
      }
    }
    isBuilt = try fields.decodeIfPresent(Bool.self, forKey: .built) ?? false
    buildDigest = try fields.decodeIfPresent(String.self, forKey: .buildDigest)
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Key.self)
    if metadata.titles.isEmpty {
      try fields.encodeIfPresent(metadata.title, forKey: .title)
    } else {
      var titles = metadata.titles
      if let title = metadata.title, title != Self.usualTitle(titles) { titles["none"] = title }
      try fields.encode(titles, forKey: .title)
    }
    if !metadata.creators.isEmpty { try fields.encode(metadata.creators, forKey: .creators) }
    for (key, text) in [
      (.date, metadata.date), (.description, metadata.caption), (.place, metadata.place),
      (.rights, metadata.rights),
      (.license, metadata.license), (.identifier, metadata.identifier),
      (.viewingDirection, viewingDirection?.rawValue), (.behavior, behavior?.rawValue),
    ] as [(Key, String?)] {
      try fields.encodeIfPresent(text, forKey: key)
    }
    if !metadata.keywords.isEmpty { try fields.encode(metadata.keywords, forKey: .keywords) }
    if !chapters.isEmpty {
      let entries = chapters.map {
        Entry(title: $0.title, page: Page($0.page), level: $0.level == 0 ? nil : $0.level)
      }
      try fields.encode(entries, forKey: .chapters)
    }
    try fields.encodeIfPresent(cover.map(Page.init), forKey: .cover)
    if isBuilt { try fields.encode(true, forKey: .built) }
    try fields.encodeIfPresent(buildDigest, forKey: .buildDigest)
  }

  /// The description as a build writes it: marked, with a digest that reveals an edit.
  package var asBuilt: BookDescription {
    var description = self
    description.isBuilt = true
    // Lines are cut and cleaned when they are read.
    description.buildDigest = ((try? BookDescription(json: json)) ?? self).digest
    return description
  }

  /// Whether a build wrote the description and nobody has edited it since. In a file of an earlier version, an edit is
  /// not visible.
  package var isUntouched: Bool { isBuilt && (buildDigest == nil || buildDigest == digest) }

  /// The digest of the members without the build's marks, hexadecimal.
  private var digest: String {
    var description = self
    description.isBuilt = false
    description.buildDigest = nil
    return String(description.json.withUnsafeBytes { Digest.of($0) }, radix: 16)
  }

  /// Returns the title of a book whose titles all have a language: that of the first language by its tag.
  private static func usualTitle(_ titles: [String: String]) -> String? {
    titles.min { $0.key < $1.key }?.value
  }

  private static func isOfTags(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d: true
    default: false
    }
  }

  /// The names of the file's members.
  package static var members: [String] { Key.allCases.map(\.rawValue) }

  /// Synonyms of members in other formats.
  private static let synonyms: [String: Key] = [
    "author": .creator, "authors": .creators, "artist": .creator, "contributor": .creator,
    "summary": .description, "abstract": .description, "caption": .description,
    "subject": .keywords, "subjects": .keywords, "tags": .keywords, "keyword": .keywords,
    "year": .date, "created": .date, "location": .place, "copyright": .rights, "licence": .license,
    "id": .identifier, "direction": .viewingDirection, "toc": .chapters, "contents": .chapters,
    "ranges": .chapters, "thumbnail": .cover, "name": .title, "label": .title,
  ]

  /// Returns warnings about a file that can be read, in clauses: unknown members, duplicate members, and commas that
  /// JSON does not allow.
  /// - Parameter meant: returns the word of a list that was probably meant by another word.
  package static func warnings(json: [UInt8], meant: (String, [String]) -> String?) -> [String] {
    let (members, spareCommas) = JSONScanner(json).outline()
    var warnings: [String] = []
    var met: Set<String> = []
    for member in members {
      let name = line(String(member.name.prefix(100))) ?? ""
      if !met.insert(member.name).inserted {
        warnings.append("line \(member.line): '\(name)' stands twice; the first one counts")
        // For example `$schema`, and private members of people.
      } else if Key(rawValue: member.name) == nil, !["$", "_"].contains(member.name.prefix(1)) {
        let known = synonyms[member.name.lowercased()]?.rawValue ?? meant(member.name, self.members)
        let hint =
          known.map { "did you mean '\($0)'?" } ?? "known are \(shownMembers.joined(separator: ", "))"
        warnings.append("line \(member.line): '\(name)' is unknown and ignored; \(hint)")
      }
    }
    for line in spareCommas {
      warnings.append(
        "line \(line): a comma before a closing bracket is not valid JSON; other programs refuse it")
    }
    let most = 20
    return warnings.count <= most
      ? warnings : warnings.prefix(most) + ["\(warnings.count - most) more warnings"]
  }

  /// The members that people write.
  private static var shownMembers: [String] {
    members.filter { ![Key.built.rawValue, Key.buildDigest.rawValue].contains($0) }
  }

  /// Returns the text without control characters; nil if nothing is left.
  private static func line(_ text: String) -> String? {
    let plain = String(
      String.UnicodeScalarView(
        text.unicodeScalars.prefix(maxLineLength).map { $0.properties.generalCategory == .control ? " " : $0 }
      ))
    let line = plain.trimmingCharacters(in: .whitespaces)
    return line.isEmpty ? nil : line
  }

  private static func one<Keyword: RawRepresentable & CaseIterable>(
    _ text: String, _ key: Key
  ) throws -> Keyword where Keyword.RawValue == String {
    if let keyword = Keyword(rawValue: text) { return keyword }
    let merged = Keyword.allCases.map(\.rawValue).joined(separator: ", ")
    throw ValidationError("has the \(key.rawValue) '\(text.prefix(40))'; it takes \(merged)")
  }
}

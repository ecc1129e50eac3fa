import Files
public import Foundation

/// What a picture's makers and keepers say of it: the fields of EXIF, IPTC and XMP that people read.
///
/// Every text is plain, trimmed and never empty. Coordinates are not among them: where a family's
/// photographs were taken is not for every visitor.
public struct ImageMetadata: Codable, Hashable, Sendable {
  /// The name of its entry, below the archive's root folder.
  public static let entryName = "vendor/ziggurat/metadata.json"

  /// The name of the entry with what the picture itself said, where a sidecar beside it said something else.
  static let ownEntryName = "vendor/ziggurat/own-metadata.json"

  /// What the picture is called, in one line.
  public var title: String?
  /// The title in languages that are named, by their tags (BCP 47); the one without a tag is `title` alone.
  public var titles: [String: String] = [:]
  /// What it shows, maybe in several lines.
  public var caption: String?
  /// Who made it, each by themselves.
  public var creators: [String]
  /// When the picture was taken, ISO 8601 as far as it is known: `2024`, `2024-05-01`,
  /// `2024-05-01T10:20:30`, with `+02:00` if the zone is known; or an interval, `1890/1895`.
  public var date: String?
  /// Where it was taken, from the nearest to the farthest: `Jetty, Porto, Portugal`.
  public var place: String?
  /// Who has rights in it, or the address of a licence.
  public var rights: String?
  /// The address of its licence: http or https, ASCII.
  public var license: String?
  /// The address of a page about the rights in it: http or https, ASCII.
  public var webStatement: String?
  /// What may be done with it, in words.
  public var usageTerms: String?
  /// What its keepers call it: a shelf mark, an inventory number.
  public var identifier: String?
  /// Whom it came from: the owner of the rights, or of the original.
  public var source: String?
  /// Who is to be named when it is shown.
  public var credit: String?
  /// Words that it is found by, in the order in which they were given.
  public var keywords: [String]

  /// Fields as given; nothing is trimmed.
  public init(
    title: String? = nil, caption: String? = nil, creators: [String] = [], date: String? = nil,
    place: String? = nil, rights: String? = nil, keywords: [String] = []
  ) {
    (self.title, self.caption, self.creators, self.date) = (title, caption, creators, date)
    (self.place, self.rights, self.keywords) = (place, rights, keywords)
  }

  /// All who made it in one line, separated by `; `; nil where nobody is named.
  public var creator: String? { creators.isEmpty ? nil : creators.joined(separator: "; ") }

  /// The record in an entry's bytes; nil if they are not one, or exceed `InputLimit.metadata`.
  public init?(json: Data) {
    guard let metadata = try? InputLimit.metadata.json.decode(ImageMetadata.self, from: json) else {
      return nil
    }
    self = metadata
  }

  /// Nothing is known.
  public var isEmpty: Bool { self == ImageMetadata() }

  /// Keys sorted: the same record gives the same bytes.
  public var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    // Strings always encode.
    return Array(try! encoder.encode(self)) + [0x0a]
  }
}

extension ImageMetadata {
  /// The JSON with texts and lists cut until it is within `InputLimit.metadata`, so that it can be read again.
  var boundedJSON: [UInt8] {
    var (metadata, most) = (self, InputLimit.metadata.bytes / 8)
    while true {
      let json = metadata.json
      if json.withUnsafeBytes({ InputLimit.metadata.json.refusal(of: $0) }) == nil { return json }
      func cut(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(most)))
      }
      let fields: [WritableKeyPath<ImageMetadata, String?>] = [
        \.title, \.caption, \.date, \.place, \.rights, \.usageTerms, \.identifier, \.source, \.credit,
      ]
      for field in fields { metadata[keyPath: field] = metadata[keyPath: field].map(cut) }
      metadata.creators = metadata.creators.prefix(most / 64).map(cut)
      metadata.keywords = metadata.keywords.prefix(most / 64).map(cut)
      let titles = metadata.titles.sorted { $0.key < $1.key }.prefix(most / 64)
      metadata.titles = Dictionary(uniqueKeysWithValues: titles.map { ($0.key, cut($0.value)) })
      most /= 2
    }
  }

  private enum Key: String, CodingKey {
    case title, titles, caption, creator, creators, date, place, rights, license, webStatement, usageTerms
    case identifier, source, credit, keywords
  }

  /// Of an archive that an earlier version built, too: it names all creators in one text, and has fewer fields.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    func text(_ key: Key) throws -> String? { try fields.decodeIfPresent(String.self, forKey: key) }
    self.init(
      title: try text(.title), caption: try text(.caption),
      creators: try fields.decodeIfPresent([String].self, forKey: .creators)
        ?? text(.creator).map { [$0] } ?? [],
      date: try text(.date), place: try text(.place), rights: try text(.rights),
      keywords: try fields.decode([String].self, forKey: .keywords))
    titles = try fields.decodeIfPresent([String: String].self, forKey: .titles) ?? [:]
    // The record may be in an archive of somebody else: a browser follows these two.
    license = try text(.license).flatMap(Self.webAddress)
    webStatement = try text(.webStatement).flatMap(Self.webAddress)
    (usageTerms, identifier) = (try text(.usageTerms), try text(.identifier))
    (source, credit) = (try text(.source), try text(.credit))
  }

  /// What an earlier version reads as well: `creator` is there beside `creators`.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Key.self)
    for (key, text) in [
      (.title, title), (.caption, caption), (.creator, creator), (.date, date), (.place, place),
      (.rights, rights), (.license, license), (.webStatement, webStatement), (.usageTerms, usageTerms),
      (.identifier, identifier), (.source, source), (.credit, credit),
    ] as [(Key, String?)] {
      try fields.encodeIfPresent(text, forKey: key)
    }
    if creators.count > 1 { try fields.encode(creators, forKey: .creators) }
    if !titles.isEmpty { try fields.encode(titles, forKey: .titles) }
    try fields.encode(keywords, forKey: .keywords)
  }
}

extension ImageMetadata {
  /// Maximum length of an address in bytes.
  private static let longestAddress = 1000

  /// Returns the text if it is an address that a browser may be led to: with another scheme it could be a script.
  public static func webAddress(_ text: String) -> String? {
    let isAddress = text.prefixMatch(of: #/https?://[^/]/#.ignoresCase()) != nil
    let isPlain = text.utf8.allSatisfy { (0x21...0x7e).contains($0) && !#""<>\^`{|}"#.utf8.contains($0) }
    return isAddress && isPlain && text.utf8.count <= longestAddress ? text : nil
  }
}

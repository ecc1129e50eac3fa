package import Foundation
import ZigguratFiles

/// The descriptive metadata of an image: the fields of EXIF, IPTC and XMP that people read.
///
/// Every text is plain, trimmed and not empty. Geographic coordinates are left out, to protect privacy.
public struct ImageMetadata: Codable, Hashable, Sendable {
  /// The name of its entry, relative to the archive's root folder.
  package static let entryName = "vendor/ziggurat/metadata.json"

  /// The name of the entry with the picture's own metadata, if a sidecar beside it differs.
  static let ownEntryName = "vendor/ziggurat/own-metadata.json"

  /// The title, in one line.
  public package(set) var title: String?
  /// The title in other languages, by language tags (BCP 47). A title without a tag is `title` alone.
  public package(set) var titles: [String: String] = [:]
  /// The caption, which may have several lines.
  public package(set) var caption: String?
  /// The names of the creators.
  public package(set) var creators: [String]
  /// The date of the image, ISO 8601 as far as it is known: `2024`, `2024-05-01`,
  /// `2024-05-01T10:20:30`, with `+02:00` if the zone is known; or an interval, `1890/1895`.
  public package(set) var date: String?
  /// The place shown, from the nearest name to the farthest: `Jetty, Porto, Portugal`.
  public package(set) var place: String?
  /// The copyright notice, or the URL of a licence.
  public package(set) var rights: String?
  /// The URL of the licence: http or https, ASCII.
  public package(set) var license: String?
  /// The URL of a page about the rights: http or https, ASCII.
  public package(set) var webStatement: String?
  /// The terms of use, for a person.
  public package(set) var usageTerms: String?
  /// The identifier in a collection, such as a shelf mark or an inventory number.
  public package(set) var identifier: String?
  /// The source of the image: the owner of the rights or of the original.
  public package(set) var source: String?
  /// The credit line to show with the image.
  public package(set) var credit: String?
  /// The keywords, in the file's order.
  public package(set) var keywords: [String]

  /// Creates metadata from fields that are not trimmed.
  package init(
    title: String? = nil, caption: String? = nil, creators: [String] = [], date: String? = nil,
    place: String? = nil, rights: String? = nil, keywords: [String] = []
  ) {
    self.title = title
    self.caption = caption
    self.creators = creators
    self.date = date
    self.place = place
    self.rights = rights
    self.keywords = keywords
  }

  /// All creators in one line, separated by `; `; nil if none is named.
  package var creator: String? { creators.isEmpty ? nil : creators.joined(separator: "; ") }

  /// Decodes the metadata in an entry's bytes; nil if they are invalid, or exceed `InputLimit.metadata`.
  package init?(json: Data) {
    guard let metadata = try? InputLimit.metadata.json.decode(ImageMetadata.self, from: json) else {
      return nil
    }
    self = metadata
  }

  /// Whether no field is known.
  package var isEmpty: Bool { self == ImageMetadata() }

  /// The JSON with sorted keys: the same metadata gives the same bytes.
  package var json: [UInt8] {
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

  /// Decodes the JSON of an archive. Missing fields are empty.
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
    // The archive may be untrusted, and a browser follows these two.
    license = try text(.license).flatMap(Self.webAddress)
    webStatement = try text(.webStatement).flatMap(Self.webAddress)
    usageTerms = try text(.usageTerms)
    identifier = try text(.identifier)
    source = try text(.source)
    credit = try text(.credit)
  }

  /// Encodes the JSON of an archive.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Key.self)
    // Earlier versions read `creator`.
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
  private static let maxAddressLength = 1000

  /// Returns the text if it is an address for links in a browser: with another scheme it could be a script.
  package static func webAddress(_ text: String) -> String? {
    let isAddress = text.prefixMatch(of: #/https?://[^/]/#.ignoresCase()) != nil
    let isPlain = text.utf8.allSatisfy { (0x21...0x7e).contains($0) && !#""<>\^`{|}"#.utf8.contains($0) }
    return isAddress && isPlain && text.utf8.count <= maxAddressLength ? text : nil
  }
}

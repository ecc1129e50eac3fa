public import Foundation

/// What a picture's makers and keepers say of it: the fields of EXIF, IPTC and XMP that people read.
///
/// Every text is plain, trimmed and never empty. Coordinates are not among them: where a family's
/// photographs were taken is not for every visitor.
public struct ImageMetadata: Codable, Hashable, Sendable {
  /// The name of its entry, below the archive's root folder.
  public static let entryName = "vendor/ziggurat/metadata.json"

  /// What the picture is called, in one line.
  public var title: String?
  /// What it shows, maybe in several lines.
  public var caption: String?
  /// Who made it; several are separated by `; `.
  public var creator: String?
  /// When the picture was taken, ISO 8601 as far as it is known: `2024`, `2024-05-01`,
  /// `2024-05-01T10:20:30`, with `+02:00` where the zone is known.
  public var date: String?
  /// Where it was taken, from the nearest to the farthest: `Jetty, Porto, Portugal`.
  public var place: String?
  /// Who has rights in it, or the address of a licence.
  public var rights: String?
  /// Words that it is found by, in the order in which they were given.
  public var keywords: [String]

  /// Fields as given; nothing is trimmed.
  public init(
    title: String? = nil, caption: String? = nil, creator: String? = nil, date: String? = nil,
    place: String? = nil, rights: String? = nil, keywords: [String] = []
  ) {
    (self.title, self.caption, self.creator, self.date) = (title, caption, creator, date)
    (self.place, self.rights, self.keywords) = (place, rights, keywords)
  }

  /// Nil where the bytes are not such a record.
  public init?(json: Data) {
    guard let metadata = try? JSONDecoder().decode(ImageMetadata.self, from: json) else { return nil }
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

extension TileArchive {
  /// What the source said of itself when it was built; empty where it said nothing.
  public var metadata: ImageMetadata {
    entry(ImageMetadata.entryName).flatMap { ImageMetadata(json: Data($0)) } ?? ImageMetadata()
  }
}

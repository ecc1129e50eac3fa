public import Foundation

/// `vendor/ziggurat/build.json`: what an archive was built from and how, for whoever asks later and
/// for the next build, which leaves alone what has not changed.
public struct BuildRecord: Codable, Hashable, Sendable {
  /// The name of its entry, below the archive's root folder.
  public static let entryName = "vendor/ziggurat/build.json"

  /// The source file's name, without its folder.
  public var sourceName: String
  /// The page of a book or a multi-page source, counted from 1; nil for an image by itself.
  public var page: Int?
  /// The source's size in bytes.
  public var sourceBytes: Int
  /// The XXH3-128 of the source's bytes, hexadecimal.
  public var sourceDigest: String
  /// The XXH3-128 of what in the source decides its pixels, hexadecimal; nil where that cannot be told from its words.
  public var pixelDigest: String?
  /// A digest of the XMP sidecar beside the source, hexadecimal; nil where there is none.
  public var sidecarDigest: String?
  /// The options that decide the archive's bytes, in one line.
  public var options: String
  /// By which way the tiles were made, and why.
  public var route: String
  /// What was done to the pixels, in order.
  public var steps: [String]
  /// Microns per image pixel, across and down, where the source tells them.
  public var micronsPerPixel: [Double]?
  /// The moving picture that the archive keeps, if any.
  public var animation: Animation?

  /// A record without scale and animation.
  public init(
    sourceName: String, page: Int?, sourceBytes: Int, sourceDigest: String, options: String, route: String,
    steps: [String]
  ) {
    self.sourceName = sourceName
    self.page = page
    self.sourceBytes = sourceBytes
    self.sourceDigest = sourceDigest
    self.options = options
    self.route = route
    self.steps = steps
  }

  /// The record in an entry's bytes; nil where they are none.
  public init?(json: Data) {
    guard let record = try? JSONDecoder().decode(BuildRecord.self, from: json) else { return nil }
    self = record
  }

  /// Keys sorted: the same record gives the same bytes.
  public var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    // Strings and numbers always encode.
    return Array(try! encoder.encode(self)) + [0x0a]
  }
}

extension TileArchive {
  /// What the archive was built from, where Ziggurat built it.
  public var buildRecord: BuildRecord? {
    entry(BuildRecord.entryName).flatMap { BuildRecord(json: Data($0)) }
  }
}

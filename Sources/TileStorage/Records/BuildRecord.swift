public import Foundation

/// `vendor/ziggurat/build.json`: what an archive was built from and how, for whoever asks later and
/// for the next build, which leaves alone what has not changed.
public struct BuildRecord: Codable, Hashable, Sendable {
  public static let entryName = "vendor/ziggurat/build.json"

  /// The source file's name, without its folder.
  public var sourceName: String
  /// Of a book or a multi-page source, counted from 1; nil for an image by itself.
  public var page: Int?
  public var sourceBytes: Int
  /// XXH3-128 of the source's bytes, hexadecimal.
  public var sourceDigest: String
  /// The options that decide the archive's bytes, in one line.
  public var options: String
  /// By which way the tiles were made, and why.
  public var route: String
  /// What was done to the pixels, in order.
  public var steps: [String]
  /// Across and down, where the source tells them.
  public var micronsPerPixel: [Double]?
  public var animation: Animation?

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

  /// Nil where the bytes are not a build record.
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

extension SZIArchive {
  /// What the archive was built from, where Ziggurat built it.
  public var buildRecord: BuildRecord? {
    entry(BuildRecord.entryName).flatMap { BuildRecord(json: Data($0)) }
  }
}

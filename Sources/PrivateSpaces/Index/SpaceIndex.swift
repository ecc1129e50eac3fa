import Foundation
import TileStorage
import ZigguratFiles

/// The content of a space: the file of each image and its one valid generation, so that an older file in its place is
/// refused.
struct SpaceIndex: Codable, Hashable, Sendable {
  struct Entry: Codable, Hashable, Sendable {
    /// In the spaces' folder.
    var file: String
    /// `Generation.text`.
    var generation: String
    /// The size of the file.
    var bytes: Int
    /// The metadata that visitors wrote.
    var sidecar: Record?
    /// `SourceRoot.text` of where the image's source was found; nil where nobody has told.
    var origin: String?

    var files: [String] { [file] + (sidecar.map { [$0.file] } ?? []) }
  }

  /// A file, and the one generation of it that counts.
  struct Record: Codable, Hashable, Sendable {
    var file: String
    var generation: String
    var bytes: Int
  }

  /// Images that are deleted and not yet removed.
  struct Deletion: Codable, Hashable, Sendable {
    /// Seconds since 1970.
    var time: Int
    var entries: [String: Entry]
  }

  /// Counts the index's own versions.
  var sequence = 1
  /// By the texts of image ids, of which JSON's coders hold one where `String` finds two equal.
  var entries: [String: Entry] = [:]
  /// By name; nil in an index from before there were any.
  var deletions: [String: Deletion]?
  /// Files with nothing in them that come and go with the index's own; nil in an index from before there were any.
  var decoys: [String]?
  /// The space's next key, sealed under the password's, while its files are sealed anew: see `SpaceRekey`.
  var nextKey: String?
  /// Files under the space's former key that are yet to be removed.
  var retired: [String]?

  /// Returns the ids of images, sorted.
  static func ids(_ entries: [String: Entry]) -> [ImageID] { entries.keys.compactMap(ImageID.init).sorted() }

  /// The entries of all images that exist or can be restored.
  var allEntries: [Entry] { Array(entries.values) + (deletions ?? [:]).values.flatMap { $0.entries.values } }

  /// The names of all files of the space, without those of the index.
  var files: Set<String> { Set(allEntries.flatMap(\.files) + (decoys ?? [])) }

  private static let domain = Array("zigindx1".utf8)

  /// A nonce, then sealed: the text's length (eight bytes, little-endian), the text, zeros up to a class of sizes.
  func sealed(_ keys: SpaceKeys) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    // Strings and numbers always encode.
    let text = try! encoder.encode(self)
    return SizeClass.padded(Array(text), frame: XChaCha.overhead).withUnsafeBytes {
      XChaCha.seal($0, key: keys.index, authenticating: Self.domain)
    }
  }

  init() {}

  /// Opens an index; nil if these keys have not sealed the bytes.
  init?(sealed bytes: [UInt8], _ keys: SpaceKeys) {
    guard let plain = XChaCha.open(bytes, key: keys.index, authenticating: Self.domain),
      let text = SizeClass.text(ofPadded: plain),
      let index = try? JSONDecoder().decode(SpaceIndex.self, from: Data(text))
    else { return nil }
    self = index
  }
}

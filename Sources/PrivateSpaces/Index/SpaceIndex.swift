import Foundation
import TileStorage
import ZigguratFiles

/// The content of a space: the file of each image and its one valid generation, so that an older file in its place is
/// rejected.
struct SpaceIndex: Codable, Hashable, Sendable {
  struct Entry: Codable, Hashable, Sendable {
    /// The name of the file in the spaces' folder.
    var file: String
    /// `Generation.text`.
    var generation: String
    /// The size of the file.
    var bytes: Int
    /// The metadata that visitors wrote.
    var sidecar: Record?
    /// `SourceRoot.text` of the root that contained the image's source; nil if it is unknown.
    var origin: String?

    var files: [String] { [file] + (sidecar.map { [$0.file] } ?? []) }
  }

  /// A file, and its one valid generation.
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

  /// The version of the index, which counts up.
  var sequence = 1
  /// The entries by the text of image ids. Of two ids that `String` treats as equal, JSON's coders keep one.
  var entries: [String: Entry] = [:]
  /// The deletions by name; nil in an index of an earlier version.
  var deletions: [String: Deletion]?
  /// Files without content that are replaced together with the index's own; nil in an index of an earlier version.
  var decoys: [String]?
  /// The space's next key, encrypted with the password's, while its files are encrypted again: see `SpaceRekey`.
  var nextKey: String?
  /// Files under the space's former key that still have to be removed.
  var retired: [String]?

  /// Returns the ids of images, sorted.
  static func ids(_ entries: [String: Entry]) -> [ImageID] { entries.keys.compactMap(ImageID.init).sorted() }

  /// The entries of all images that exist or can be restored.
  var allEntries: [Entry] { Array(entries.values) + (deletions ?? [:]).values.flatMap { $0.entries.values } }

  /// The names of all files of the space, without those of the index.
  var files: Set<String> { Set(allEntries.flatMap(\.files) + (decoys ?? [])) }

  private static let domain = Array("zigindx1".utf8)

  /// Returns a nonce, then encrypted the text's length (eight bytes, little-endian), the text, and zeros up to a size
  /// class.
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

  /// Decrypts an index; nil if these keys did not encrypt the bytes.
  init?(sealed bytes: [UInt8], _ keys: SpaceKeys) {
    guard let plain = XChaCha.open(bytes, key: keys.index, authenticating: Self.domain),
      let text = SizeClass.text(ofPadded: plain),
      let index = try? JSONDecoder().decode(SpaceIndex.self, from: Data(text))
    else { return nil }
    self = index
  }
}

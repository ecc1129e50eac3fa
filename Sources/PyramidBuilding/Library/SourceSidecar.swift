import Files
import Foundation
import Imaging
import Metadata
import TileStorage

/// The XMP sidecar beside a source: `photo.jpg.xmp`, as darktable and digiKam call it, or else `photo.xmp`.
struct SourceSidecar {
  private let file: SidecarFile
  private let bytes: [UInt8]
  /// Differs with its content.
  let digest: String

  /// The one that counts; nil where there is none, or the source's path does not tell its name.
  static func file(of source: SourceScan.Source) -> SidecarFile? {
    if let sidecar = source.sidecar { return SidecarFile(path: sidecar.path) }
    return source.name == nil ? file(ofSourceAt: source.path) : nil
  }

  /// Where one may be, the first before the others.
  static func paths(ofSourceAt path: String) -> [String] {
    [path, ImageFileName.stem(path)].flatMap { path in
      [path + SidecarFile.ending, path + SidecarFile.ending.uppercased()]
    }
  }

  private static func file(ofSourceAt path: String) -> SidecarFile? {
    paths(ofSourceAt: path).lazy.compactMap { SidecarFile(path: $0) }.first
  }

  /// Reads it; nil where there is none.
  init?(of source: SourceScan.Source) throws(BuildError) {
    guard let file = Self.file(of: source) else { return nil }
    // One that leads out is passed over, as the search reports.
    if let enclosure = source.enclosure, let folder = try? Enclosure(enclosure),
      !folder.holds(path: SourceScan.resolved(file.path))
    {
      return nil
    }
    try self.init(file, within: source.enclosure)
  }

  /// Of a source whose path tells its name.
  init?(ofSourceAt path: String) throws(BuildError) {
    guard let file = Self.file(ofSourceAt: path) else { return nil }
    try self.init(file, within: nil)
  }

  private init(_ file: SidecarFile, within enclosure: String?) throws(BuildError) {
    do throws(StorageError) {
      self.file = file
      let folder = try enclosure.map { (path) throws(StorageError) in try Enclosure(path) }
      bytes = try file.contents(atMost: SidecarFile.longest + 1, within: folder)
    } catch {
      throw BuildError(file.path, error)
    }
    digest = String(bytes.withUnsafeBytes { Digest.of($0) }, radix: 16)
  }

  /// What it says, asked in a cell. What is no XMP, or too much, says nothing.
  func words() throws(BuildError) -> SourceWords {
    guard bytes.count <= SidecarFile.longest else { return SourceWords(digest: digest, sidecar: nil) }
    do throws(WordsUnavailable) {
      return SourceWords(digest: digest, sidecar: try Sidecar(bytes))
    } catch {
      throw BuildError(file.path, error.description, isTemporary: true)
    }
  }
}

/// What stands beside a source, as a cell that builds it is told.
struct SourceWords: Codable, Sendable {
  /// Of the sidecar; nil where there is none.
  private(set) var digest: String?
  /// Of the source without its own words, where these can be told from it.
  var pixelDigest: String?
  /// Whether the source was uploaded; nil otherwise.
  var isUploaded: Bool?
  private var sidecar: Sidecar?

  static let none = SourceWords(digest: nil, sidecar: nil)

  /// Bytes that a build's orders may have for them.
  private static let longest = 1 << 20

  init(digest: String?, sidecar: Sidecar?) {
    self.digest = digest
    self.sidecar = sidecar
    if BuildMessage.encode(self).count > Self.longest { self.sidecar = nil }
  }

  /// The words for an archive of the build that `record` tells of.
  func words(_ record: BuildRecord, own: ImageMetadata) -> ArchiveWords {
    var record = record
    (record.sidecarDigest, record.pixelDigest) = (digest, pixelDigest)
    if isUploaded == true { record.isUploaded = true }
    return ArchiveWords(record, own: own, told: told(own))
  }

  /// What is told of a picture that says `own`.
  func told(_ own: ImageMetadata) -> ImageMetadata { sidecar?.applied(to: own) ?? own }
}

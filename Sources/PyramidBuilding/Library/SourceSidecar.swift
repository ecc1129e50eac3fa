import Foundation
import Glibc
import TileStorage
import ZigguratFiles
import ZigguratImaging
import ZigguratMetadata

/// The XMP sidecar beside a source: `photo.jpg.xmp`, as darktable and digiKam call it, or else `photo.xmp`.
struct SourceSidecar {
  /// The path for reports; the original's address if it is a copy.
  private let name: String
  private let bytes: [UInt8]
  /// A digest of the content.
  let digest: String

  /// Returns the sidecar of a source. Returns nil if there is none, or the source's path does not contain its name.
  static func file(of source: SourceScan.Source) -> SidecarFile? {
    if let sidecar = source.sidecar { return SidecarFile(path: sidecar.path) }
    return source.name == nil ? file(ofSourceAt: source.path) : nil
  }

  /// Returns the possible paths of a sidecar, in order of precedence.
  static func paths(ofSourceAt path: String) -> [String] { names(path).flatMap(paths(of:)) }

  private static func paths(of name: String) -> [String] {
    [name + SidecarFile.ending, name + SidecarFile.ending.uppercased()]
  }

  /// Returns the source's path, with its extension in either case, and without it: `one.JPG` has `one.jpg.xmp`.
  private static func names(_ path: String) -> [String] {
    let stem = ImageFileName.stem(path)
    guard stem != path else { return [path] }
    let ending = path.dropFirst(stem.count)
    return [path] + [ending.lowercased(), ending.uppercased()].filter { $0 != ending }.map { stem + $0 } + [
      stem
    ]
  }

  private static func file(ofSourceAt path: String) -> SidecarFile? {
    let names = names(path)
    for name in names {
      guard let file = paths(of: name).lazy.compactMap({ SidecarFile(path: $0) }).first else { continue }
      // The sidecar belongs to another picture, whose name differs only in the case of its extension.
      if name != path, name != names.last, access(name, F_OK) == 0 { continue }
      return file
    }
    return nil
  }

  /// Reads the sidecar of a source; nil if there is none.
  init?(of source: SourceScan.Source) throws(BuildError) {
    guard let file = Self.file(of: source) else { return nil }
    // A link that leads out of the folder is ignored; the scan reports it.
    if let enclosure = source.enclosure, let folder = try? RootDirectory(enclosure),
      !folder.holds(path: SourceScan.resolved(file.path))
    {
      return nil
    }
    try self.init(file, named: source.sidecar?.address ?? file.path, within: source.enclosure)
  }

  /// Reads the sidecar of a source whose path contains its name; nil if there is none.
  init?(ofSourceAt path: String) throws(BuildError) {
    guard let file = Self.file(ofSourceAt: path) else { return nil }
    try self.init(file, named: file.path, within: nil)
  }

  private init(_ file: SidecarFile, named name: String, within enclosure: String?) throws(BuildError) {
    do throws(StorageError) {
      self.name = name
      let folder = try enclosure.map { (path) throws(StorageError) in try RootDirectory(path) }
      bytes = try file.contents(atMost: SidecarFile.maxLength + 1, within: folder)
    } catch {
      throw BuildError(name, error)
    }
    digest = String(bytes.withUnsafeBytes { Digest.of($0) }, radix: 16)
  }

  /// Returns the sidecar's metadata, which a sandboxed process reads. A file that is not XMP, or too large, has none.
  ///
  /// - Parameter onProblem: called with the reason if the sidecar is ignored.
  func metadata(_ onProblem: (BuildError) -> Void = { _ in }) throws(BuildError) -> SourceMetadata {
    func ignored(_ reason: String) -> SourceMetadata {
      onProblem(BuildError(name, "\(reason), and is ignored"))
      return SourceMetadata(digest: digest, sidecar: nil)
    }
    guard bytes.count <= SidecarFile.maxLength else {
      return ignored("has more than \(SidecarFile.maxLength >> 20) MB")
    }
    do throws(MetadataUnavailable) {
      guard let sidecar = try Sidecar(bytes) else { return ignored(Sidecar.problem(bytes)) }
      return SourceMetadata(digest: digest, sidecar: sidecar)
    } catch {
      throw BuildError(name, error.description, isTemporary: true)
    }
  }
}

/// The metadata beside a source, as the sandboxed process that builds it receives them.
struct SourceMetadata: Codable, Sendable {
  /// The digest of the sidecar; nil if there is none.
  private(set) var digest: String?
  /// The digest of the source without its embedded metadata; nil if they cannot be separated.
  var pixelDigest: String?
  /// Whether the source was uploaded; nil otherwise.
  var isUploaded: Bool?
  private var sidecar: Sidecar?

  static let none = SourceMetadata(digest: nil, sidecar: nil)

  /// Maximum bytes of the metadata in a build order.
  private static let maxLength = 1 << 20

  init(digest: String?, sidecar: Sidecar?) {
    self.digest = digest
    self.sidecar = sidecar
    if BuildMessage.encode(self).count > Self.maxLength { self.sidecar = nil }
  }

  /// Returns the metadata for an archive with a build record.
  func metadata(_ record: BuildRecord, own: ImageMetadata) -> ArchiveMetadata {
    var record = record
    record.sidecarDigest = digest
    record.pixelDigest = pixelDigest
    if isUploaded == true { record.isUploaded = true }
    return ArchiveMetadata(record, own: own, effective: effective(own))
  }

  /// Returns the metadata of a picture, given its embedded metadata.
  func effective(_ own: ImageMetadata) -> ImageMetadata { sidecar?.applied(to: own) ?? own }
}

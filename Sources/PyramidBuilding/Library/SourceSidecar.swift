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
  /// Differs with its content.
  let digest: String

  /// The one that counts; nil where there is none, or the source's path does not tell its name.
  static func file(of source: SourceScan.Source) -> SidecarFile? {
    if let sidecar = source.sidecar { return SidecarFile(path: sidecar.path) }
    return source.name == nil ? file(ofSourceAt: source.path) : nil
  }

  /// Returns the paths at which a sidecar may lie, the first before the others.
  static func paths(ofSourceAt path: String) -> [String] { names(path).flatMap(paths(of:)) }

  private static func paths(of name: String) -> [String] {
    [name + SidecarFile.ending, name + SidecarFile.ending.uppercased()]
  }

  /// The source's path, with the ending in either case, and without it: `one.JPG` has `one.jpg.xmp`.
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
      // That of another picture whose name differs in the ending's case alone.
      if name != path, name != names.last, access(name, F_OK) == 0 { continue }
      return file
    }
    return nil
  }

  /// Reads it; nil where there is none.
  init?(of source: SourceScan.Source) throws(BuildError) {
    guard let file = Self.file(of: source) else { return nil }
    // One that leads out is passed over, as the search reports.
    if let enclosure = source.enclosure, let folder = try? RootDirectory(enclosure),
      !folder.holds(path: SourceScan.resolved(file.path))
    {
      return nil
    }
    try self.init(file, named: source.sidecar?.address ?? file.path, within: source.enclosure)
  }

  /// Reads the sidecar of a source whose path has its name; nil if there is none.
  init?(ofSourceAt path: String) throws(BuildError) {
    guard let file = Self.file(ofSourceAt: path) else { return nil }
    try self.init(file, named: file.path, within: nil)
  }

  private init(_ file: SidecarFile, named name: String, within enclosure: String?) throws(BuildError) {
    do throws(StorageError) {
      self.name = name
      let folder = try enclosure.map { (path) throws(StorageError) in try RootDirectory(path) }
      bytes = try file.contents(atMost: SidecarFile.longest + 1, within: folder)
    } catch {
      throw BuildError(name, error)
    }
    digest = String(bytes.withUnsafeBytes { Digest.of($0) }, radix: 16)
  }

  /// Returns its metadata, which a sandboxed process reads. A file that is not XMP, or too large, has none.
  /// - Parameter onProblem: called with the reason if it says nothing.
  func metadata(_ onProblem: (BuildError) -> Void = { _ in }) throws(BuildError) -> SourceMetadata {
    func ignored(_ reason: String) -> SourceMetadata {
      onProblem(BuildError(name, "\(reason), and is ignored"))
      return SourceMetadata(digest: digest, sidecar: nil)
    }
    guard bytes.count <= SidecarFile.longest else {
      return ignored("has more than \(SidecarFile.longest >> 20) MB")
    }
    do throws(MetadataUnavailable) {
      guard let sidecar = try Sidecar(bytes) else { return ignored(Sidecar.problem(bytes)) }
      return SourceMetadata(digest: digest, sidecar: sidecar)
    } catch {
      throw BuildError(name, error.description, isTemporary: true)
    }
  }
}

/// The metadata beside a source, as a sandboxed process that builds it gets them.
struct SourceMetadata: Codable, Sendable {
  /// The digest of the sidecar; nil if there is none.
  private(set) var digest: String?
  /// The digest of the source without its own metadata, if they can be told apart.
  var pixelDigest: String?
  /// Whether the source was uploaded; nil otherwise.
  var isUploaded: Bool?
  private var sidecar: Sidecar?

  static let none = SourceMetadata(digest: nil, sidecar: nil)

  /// Bytes that a build's orders may have for them.
  private static let longest = 1 << 20

  init(digest: String?, sidecar: Sidecar?) {
    self.digest = digest
    self.sidecar = sidecar
    if BuildMessage.encode(self).count > Self.longest { self.sidecar = nil }
  }

  /// The words for an archive of the build that `record` tells of.
  func metadata(_ record: BuildRecord, own: ImageMetadata) -> ArchiveMetadata {
    var record = record
    record.sidecarDigest = digest
    record.pixelDigest = pixelDigest
    if isUploaded == true { record.isUploaded = true }
    return ArchiveMetadata(record, own: own, effective: effective(own))
  }

  /// Returns the metadata of a picture that says `own` itself.
  func effective(_ own: ImageMetadata) -> ImageMetadata { sidecar?.applied(to: own) ?? own }
}

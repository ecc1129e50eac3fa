import Glibc
import Synchronization
package import ZigguratFiles

/// The file from which an archive was built, kept beside the archive.
///
/// A file is an archive's original only if its content has the digest in the archive's build record. A file of the same
/// name may belong to an image that had the name before.
package struct OriginalFile: Sendable {
  package let file: MappedFile
  package let path: String
  package let kind: ImageFormat
  /// The file name extension, without the dot.
  package let ending: String

  /// Finds the original of an archive.
  ///
  /// - Parameters:
  ///   - archive: the path of the archive, with its extension of four bytes.
  ///   - enclosure: the library's folder; links that lead out of it are refused.
  package init?(ofArchive archive: String, _ record: BuildRecord, within enclosure: RootDirectory) {
    for (path, ending) in Self.places(ofArchive: archive, record) {
      guard let file = Self.file(path, record, enclosure),
        KnownDigests.digest(of: file) == record.sourceDigest,
        let kind = ImageFormat(start: file.bytes.prefix(ImageFormat.signatureBytes))
      else { continue }
      self.file = file
      self.path = path
      self.kind = kind
      self.ending = ending
      return
    }
    return nil
  }

  /// Whether `init` must read a file to its end, once for each version of it. That takes seconds for each gigabyte.
  package static func mustBeRead(
    ofArchive archive: String, _ record: BuildRecord, within enclosure: RootDirectory
  ) -> Bool {
    for (path, _) in places(ofArchive: archive, record) {
      guard let file = file(path, record, enclosure) else { continue }
      guard let digest = KnownDigests.known(file.identity) else { return true }
      if digest == record.sourceDigest { return false }
    }
    return false
  }

  /// Returns the path of the archive after which the original of an archive is named. A page of a book that is one file
  /// has its original beside the book's folder. The original is named as if the book were an image.
  package static func archive(ofOriginalOf archive: String, _ record: BuildRecord) -> String {
    guard record.page != nil, record.folio == nil else { return archive }
    return parentFolder(archive) + archive.suffix(4)
  }

  /// Returns the possible paths of an archive's original.
  package static func paths(ofArchive archive: String, _ record: BuildRecord) -> [String] {
    places(ofArchive: archive, record).map(\.path)
  }

  /// Returns the possible paths with the extension of each.
  private static func places(
    ofArchive archive: String, _ record: BuildRecord
  ) -> [(path: String, ending: String)] {
    let archive = Self.archive(ofOriginalOf: archive, record)
    let own = OriginalName.ending(sentAs: record.sourceName)
    let endings = (own.map { [$0] } ?? []) + OriginalName.usual.filter { $0 != own }
    return endings.flatMap { ending in
      OriginalName.paths(ofArchive: archive, record.sourceDigest, ending).map { ($0, ending) }
    }
  }

  /// Returns the file at a path, if it has the size of the original.
  private static func file(_ path: String, _ record: BuildRecord, _ enclosure: RootDirectory) -> MappedFile? {
    guard access(path, F_OK) == 0, let file = try? MappedFile(path: path, within: enclosure),
      file.bytes.count == record.sourceBytes
    else { return nil }
    return file
  }

  package var mediaType: String { kind.mediaType.description }

  /// Returns the path for the file beside another archive of the same record; nil if a file with its content is there.
  package func place(besideArchive archive: String, _ record: BuildRecord) throws(StorageError) -> String? {
    try OriginalName.place(
      besideArchive: Self.archive(ofOriginalOf: archive, record), digest: record.sourceDigest, ending)
  }
}

/// The original of a picture of a private space, an entry of its sealed archive.
package enum SealedOriginal {
  /// The entry's name before the file name extension.
  package static let prefix = "vendor/ziggurat/original."

  /// Returns the extension of the original's name; nil if the archive has no original.
  package static func ending(in archive: TileArchive) -> String? {
    archive.entryNames.first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
  }
}

/// A file that becomes the original of an archive.
package struct NewOriginal {
  private let file: String
  private let digest: String
  private let paths: [String]

  /// - Parameters:
  ///   - file: the path of the file.
  ///   - digest: the digest of its content.
  ///   - name: the file's name in the upload.
  ///   - archive: the path of the archive.
  package init(_ file: String, digest: String, sentAs name: String, ofArchive archive: String)
    throws(StorageError)
  {
    self.file = file
    self.digest = digest
    let ending = try OriginalName.ending(sentAs: name, MappedFile(path: file))
    paths = OriginalName.paths(ofArchive: archive, digest, ending)
  }

  /// Gives the file a second name beside the archive, unless its content is there. Never replaces a file.
  ///
  /// - Parameter mayCopy: whether the file is copied if it cannot have a second name there, as on another mount or a
  ///   file system without links; otherwise nothing is done then. It is never moved: the upload needs it until its end.
  package func keep(mayCopy: Bool) throws(StorageError) {
    for path in paths {
      if link(file, path) == 0 { return }
      let code = errno
      if code == EEXIST {
        if KnownDigests.digest(ofFileAt: path) == digest { return }
        continue
      }
      guard [EXDEV, EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(code) else {
        throw StorageError("keep \(path)", errno: code)
      }
      guard mayCopy else { return }
      if access(path, F_OK) == 0 {
        if KnownDigests.digest(ofFileAt: path) == digest { return }
        continue
      }
      return try AtomicFile.copy(file, to: path, replacing: false)
    }
    throw StorageError("keep \(file)", "other files have its names", code: EEXIST)
  }

  /// Removes the second name, and no other file.
  package func withdraw() {
    guard let own = FileIdentity(path: file) else { return }
    for path in paths where FileIdentity(path: path) == own { unlink(path) }
  }
}

/// The names of originals.
package enum OriginalName {
  /// The extensions of originals that were sent with another extension.
  static let usual = ImageFormat.uploads.compactMap(\.endings.first) + RawFormat.endings

  /// LSM files and MetaMorph's stacks are stored as `tif`.
  private static let known = Set(ImageFormat.uploads.flatMap(\.endings)).subtracting(["lsm", "stk"])

  /// Whether originals can have this extension.
  package static func isEnding(_ ending: some StringProtocol) -> Bool {
    known.contains(ending.lowercased()) || usual.contains(String(ending)) || ending == fallback
  }

  /// The extension of a file whose format has none.
  private static let fallback = "original"

  /// Returns the extension of a name, if it is a picture's.
  static func ending(sentAs name: String) -> String? {
    guard let dot = name.lastIndex(of: ".") else { return nil }
    let ending = String(name[name.index(after: dot)...])
    return known.contains(ending.lowercased()) ? ending : nil
  }

  /// Returns the extension that was sent if files of this format have it, and the format's usual extension otherwise.
  package static func ending(sentAs name: String, _ file: MappedFile) -> String {
    let start = file.bytes.prefix(ImageFormat.signatureBytes)
    let kind = ImageFormat(start: start)
    // Most RAW files begin like TIFF files.
    let endings = (kind?.endings ?? []) + (kind == .tiff ? ImageFormat.raw.endings : [])
    if let ending = ending(sentAs: name), endings.contains(ending.lowercased()) { return ending }
    if let raw = RawFormat.ending(start) { return raw }
    return endings.first ?? fallback
  }

  /// Returns the path for the original of an archive; nil if a file with its content is there.
  package static func place(
    besideArchive archive: String, digest: String, _ ending: String
  ) throws(StorageError) -> String? {
    for path in paths(ofArchive: archive, digest, ending) {
      if access(path, F_OK) != 0, errno == ENOENT { return path }
      if KnownDigests.digest(ofFileAt: path) == digest { return nil }
    }
    throw StorageError("write \(archive)", "other files have the names of its original", code: EEXIST)
  }

  /// Returns the names, without extensions, of the archives whose original the file may be, by its name: the inverse of
  /// `paths`.
  package static func archives(ofOriginal name: String) -> [String] {
    guard let dot = name.lastIndex(of: "."), isEnding(name[name.index(after: dot)...]) else { return [] }
    let stem = name[..<dot]
    guard let digest = stem.lastIndex(of: "."), stem[digest...].utf8.count == 33 else {
      return [String(stem)]
    }
    return [String(stem), String(stem[..<digest])]
  }

  /// Returns the possible paths of an original. The second one is used if the first name is taken.
  static func paths(ofArchive archive: String, _ digest: String, _ ending: String) -> [String] {
    let stem = archive.dropLast(4)
    return ["\(stem).\(ending)", "\(stem).\(digest).\(ending)"]
  }
}

/// Digests of originals that were read, valid while the files are unchanged.
private enum KnownDigests {
  private static let known = Mutex<[FileIdentity: String]>([:])
  private static let maximum = 10_000

  static func known(_ identity: FileIdentity) -> String? { known.withLock { $0[identity] } }

  static func digest(of file: MappedFile) -> String? {
    if let digest = known(file.identity) { return digest }
    guard let digest = ContentDigest.text(of: file.descriptor) else { return nil }
    known.withLock { known in
      if known.count >= maximum { known.removeAll() }
      known[file.identity] = digest
    }
    return digest
  }

  static func digest(ofFileAt path: String) -> String? { (try? MappedFile(path: path)).flatMap(digest(of:)) }
}

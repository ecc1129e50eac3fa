import Foundation
import Glibc

/// The XMP file beside an archive: `photo.xmp`, or `photo.szi.xmp` as darktable and digiKam call it.
///
/// What it says is `Metadata/Sidecar`. A private space has the same bytes in `SealedSidecar`, which lies elsewhere,
/// under a name that tells nothing, and counts in one generation alone.
package struct SidecarFile: Hashable, Sendable {
  package let path: String
  package let identity: FileIdentity

  package static let ending = ".xmp"

  /// Bytes that one may have for its words to be read.
  package static let longest = InputLimit.sidecar.bytes

  /// Where an archive's may be, the first before the other.
  package static func paths(ofArchive path: String) -> [String] {
    [path.dropLast(4) + ending, path + ending]
  }

  /// A file that is there.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    (self.path, identity) = (path, FileIdentity(status))
  }

  /// The one that counts.
  /// - Parameter isListed: whether a file of that path may be there, from a reading of its folder.
  package init?(ofArchive path: String, isListed: (String) -> Bool = { _ in true }) {
    for path in Self.paths(ofArchive: path) where isListed(path) {
      guard let file = SidecarFile(path: path) else { continue }
      self = file
      return
    }
    return nil
  }

  /// Those that are there, the one that counts first.
  package static func all(ofArchive path: String) -> [SidecarFile] {
    paths(ofArchive: path).compactMap { SidecarFile(path: $0) }
  }

  /// Whether another file, or none, has taken its place, or it was written to.
  package var hasChanged: Bool {
    var status = stat()
    return stat(path, &status) != 0 || FileIdentity(status) != identity
  }

  /// What its words are read from; nil where it cannot be read, is too long, or a link leads out of the enclosure.
  package func bytes(within enclosure: Enclosure?) -> [UInt8]? {
    guard let bytes = try? contents(atMost: Self.longest + 1, within: enclosure), bytes.count <= Self.longest
    else { return nil }
    return bytes
  }

  /// All that it holds, whatever that is, for who moves it. Read, not mapped: others write into theirs.
  package func contents(
    atMost most: Int = .max, within enclosure: Enclosure?
  ) throws(StorageError) -> [UInt8] {
    let action = "open \(path)"
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw StorageError(action, errno: errno) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    guard enclosure?.holds(descriptor) ?? true else {
      throw StorageError(action, "a link leads out of the folder")
    }
    do {
      // Nothing at all where the file is empty.
      return Array(try file.read(upToCount: most) ?? Data())
    } catch { throw StorageError(action, "it cannot be read") }
  }

  /// Writes a file whole, which is durable when its folder is.
  package static func publish(_ bytes: [UInt8], to path: String) throws(StorageError) {
    let file = try PartialFile(destination: path)
    try file.write(bytes)
    try file.publish()
  }

  /// Does nothing where it is gone.
  package func remove() throws(StorageError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw StorageError("remove \(path)", errno: errno) }
  }
}

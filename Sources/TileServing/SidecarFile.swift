import Foundation
import Glibc
import Metadata
import TileStorage

/// The XMP file beside an archive: `photo.xmp`, or `photo.szi.xmp` as darktable and digiKam call it.
struct SidecarFile: Hashable, Sendable {
  let path: String
  let identity: FileIdentity

  /// Where an archive's sidecar may be, the first before the other.
  static func paths(ofArchive path: String) -> [String] { [path.dropLast(4) + ".xmp", path + ".xmp"] }

  /// A file that is there.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    (self.path, identity) = (path, FileIdentity(status))
  }

  /// - Parameter isListed: whether a file of that path may be there, from a reading of its folder.
  init?(ofArchive path: String, isListed: (String) -> Bool = { _ in true }) {
    for path in Self.paths(ofArchive: path) where isListed(path) {
      guard let file = SidecarFile(path: path) else { continue }
      self = file
      return
    }
    return nil
  }

  /// Whether another file, or none, has taken its place, or it was written to.
  var hasChanged: Bool {
    var status = stat()
    return stat(path, &status) != 0 || FileIdentity(status) != identity
  }

  /// Nil where it cannot be read or is too long for one.
  var bytes: [UInt8]? {
    guard identity.size <= Sidecar.longest, let data = FileManager.default.contents(atPath: path),
      data.count <= Sidecar.longest
    else { return nil }
    return Array(data)
  }
}

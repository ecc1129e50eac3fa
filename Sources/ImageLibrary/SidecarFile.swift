package import Files
import Foundation
import Glibc
import Metadata
import TileStorage

/// The XMP file beside an archive.
package struct SidecarFile: Hashable, Sendable {
  package let path: String
  package let identity: FileIdentity

  /// A file that is there.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    (self.path, identity) = (path, FileIdentity(status))
  }

  /// - Parameter isListed: whether a file of that path may be there, from a reading of its folder.
  package init?(ofArchive path: String, isListed: (String) -> Bool = { _ in true }) {
    for path in TrashFolder.sidecars(ofArchive: path) where isListed(path) {
      guard let file = SidecarFile(path: path) else { continue }
      self = file
      return
    }
    return nil
  }

  /// Whether another file, or none, has taken its place, or it was written to.
  package var hasChanged: Bool {
    var status = stat()
    return stat(path, &status) != 0 || FileIdentity(status) != identity
  }

  /// Nil where it cannot be read, is too long for one, or a link leads out of the enclosure.
  package func bytes(within enclosure: Enclosure?) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    guard enclosure?.holds(descriptor) ?? true,
      // Nothing at all where the file is empty.
      let data = try? file.read(upToCount: Sidecar.longest + 1) ?? Data(), data.count <= Sidecar.longest
    else { return nil }
    return Array(data)
  }
}

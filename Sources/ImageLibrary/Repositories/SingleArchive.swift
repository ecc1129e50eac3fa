import Glibc
import TileStorage
package import ZigguratFiles

/// A single archive as a whole library.
package struct SingleArchive: LibrarySource {
  private let path: String
  private let id: ImageID

  /// Creates a source of one archive; nil if the path is not a file with the extension of an archive.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      [".szi", ".zip", ".dzi"].contains(where: path.lowercased().hasSuffix)
    else { return nil }
    let name = path.split(separator: "/").last.map { String($0.dropLast(4)) }
    guard let id = name.flatMap(ImageID.init) else { return nil }
    self.path = path
    self.id = id
  }

  package func version() throws(StorageError) -> Int {
    var status = stat()
    guard stat(path, &status) == 0 else { throw StorageError("look at \(path)", errno: errno) }
    return FileIdentity(status).hashValue
  }

  package func images() throws(StorageError) -> [SourceImage] {
    let path = path
    let sidecar = SidecarFile(ofArchive: path)
    return [
      SourceImage(
        id: id, path: path,
        sidecar: sidecar.map { file in SourceImage.SidecarReader(path: file.path) { file.bytes(within: nil) }
        },
        open: { () throws(StorageError) in try TileArchive(path: path, within: nil) })
    ]
  }
}

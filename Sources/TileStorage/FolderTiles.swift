import Synchronization
import TileGeometry

/// Tiles that are files of their own, `NAME_files/LEVEL/COLUMN_ROW.EXT`; each mapped when it is asked for
/// and from then on, so that a slice of it lives as long as its archive.
final class FolderTiles: Sendable {
  private let folder: String
  private let fileExtension: String
  private let pyramid: Pyramid
  private let mapped = Mutex<[Int: MappedFile]>([:])

  init(folder: String, fileExtension: String, pyramid: Pyramid) {
    (self.folder, self.fileExtension, self.pyramid) = (folder, fileExtension, pyramid)
  }

  var mappedCount: Int { mapped.withLock { $0.count } }

  /// Nil where there is no such file or it cannot be read.
  func tile(_ number: Int) -> UnsafeRawBufferPointer? {
    if let file = mapped.withLock({ $0[number] }) { return file.bytes }
    guard let address = pyramid.address(at: number),
      let file = try? MappedFile(
        path: "\(folder)/\(address.level)/\(address.column)_\(address.row).\(fileExtension)",
        keepsDescriptor: false)
    else { return nil }
    // Two threads may have mapped it: the first one's stays.
    return mapped.withLock { mapped in
      if let first = mapped[number] { return first.bytes }
      mapped[number] = file
      return file.bytes
    }
  }
}

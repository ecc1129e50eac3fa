import Foundation
import Glibc
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratImageLibrary

/// The originals of images that can no longer be restored. In a folder they are in the trash, beside the archives. With
/// a shared catalog the trash is a table, and the originals are on the disk of the server that received the uploads.
extension UploadProcessor {
  private static let chunk = 1000

  /// Removes the originals of images that any server has purged from the trash. If the catalog is unreachable, the next
  /// call removes them.
  func removePurgedOriginals() {
    guard library.hasOneWriter, let enclosure = try? RootDirectory(root) else { return }
    let ids = Self.originals(in: root).sorted()
    for start in stride(from: 0, to: ids.count, by: Self.chunk) {
      let some = Array(ids[start..<min(start + Self.chunk, ids.count)])
      guard let purged = try? library.catalog.purged(some) else { return }
      for row in purged where !stopping.isSet { removeOriginal(of: row, within: enclosure) }
    }
  }

  /// Removes the original of an archive. It is kept if an image of its name, or a page of its book, shows the same
  /// file, and exists or can be restored.
  private func removeOriginal(of row: ArchiveRow, within enclosure: RootDirectory) {
    let archive = row.id.archive(in: root)
    guard let record = BuildRecord(json: Data(row.build)), record.isUploaded == true,
      let owner = ImageID(archive: OriginalFile.archive(ofOriginalOf: archive, record), below: root),
      let original = OriginalFile(ofArchive: archive, record, within: enclosure),
      (try? library.catalog.mayShow(sourceDigest: record.sourceDigest, owner)) == false
    else { return }
    unlink(original.path)
  }

  /// Returns the ids of the images and books whose originals may be in a folder, by the names of its files.
  private static func originals(in root: String) -> Set<ImageID> {
    var ids: Set<ImageID> = []
    var folders = [""]
    while let folder = folders.popLast() {
      guard let directory = opendir("\(root)/\(folder)") else { continue }
      defer { closedir(directory) }
      while let entry = readdir(directory) {
        guard let name = entry.pointee.name, name.utf8.first != UInt8(ascii: ".") else { continue }
        if entry.pointee.isFolder {
          folders.append("\(folder)\(name)/")
        } else {
          ids.formUnion(OriginalName.archives(ofOriginal: name).compactMap { ImageID(folder + $0) })
        }
      }
    }
    return ids
  }
}

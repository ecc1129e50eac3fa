package import Files
import Foundation
import Metadata
package import TileStorage

/// Folders of a library from which the last image went.
package enum LeftFolders {
  /// Removes those in which nothing is left but what a build wrote of the book that they were.
  /// - Parameter ids: of images that have gone, to the trash or under other ids.
  package static func remove(after ids: Set<ImageID>, in store: any ArchiveStore) {
    guard let library = (store as? FolderStore)?.library else { return }
    for folder in Set(ids.compactMap(\.folder)) {
      var next: ImageID? = folder
      while let folder = next, remove(folder, below: library, store) { next = folder.folder }
    }
  }

  private static func remove(_ folder: ImageID, below library: String, _ store: any ArchiveStore) -> Bool {
    let path = "\(library)/\(folder)"
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return false }
    if names == [BookDescription.fileName] {
      let isBuilt = store.bookFile(of: folder).flatMap { try? BookDescription(json: $0) }?.isBuilt == true
      guard isBuilt, (try? store.keep(bookFile: nil, of: folder)) != nil else { return false }
    }
    // What is not empty, or a link, stays.
    return rmdir(path) == 0
  }
}

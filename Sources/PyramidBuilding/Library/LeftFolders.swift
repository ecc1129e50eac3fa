import Foundation
package import TileStorage
package import ZigguratFiles
import ZigguratMetadata

/// Folders of a library from which the last image went.
package enum LeftFolders {
  /// Removes those in which nothing is left but the description of the book that they were. One that a person wrote or edited goes
  /// along with a book that was renamed, or stays.
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
      let isGone =
        isUntouched(folder, store)
        ? (try? store.keep(bookFile: nil, of: folder)) != nil
        : moveDescription(of: folder, in: library, store)
      guard isGone else { return false }
    }
    // What is not empty, or a link, stays.
    return rmdir(path) == 0
  }

  /// Returns whether a build wrote the description of a book and nobody has edited it since.
  private static func isUntouched(_ book: ImageID, _ store: any ArchiveStore) -> Bool {
    store.bookFile(of: book).flatMap { try? BookDescription(json: $0) }?.isUntouched == true
  }

  /// Moves the description that a person wrote to where the book's pages are now, unless another person's is there.
  /// - Returns: whether it was moved.
  private static func moveDescription(
    of book: ImageID, in library: String, _ store: any ArchiveStore
  ) -> Bool {
    let new = MovedImages(library: library).id(book) { !store.pages(below: $0).isEmpty }
    guard let new else { return false }
    let (from, to) = (FolderStore.bookFile(of: book, in: library), FolderStore.bookFile(of: new, in: library))
    guard !isNameTaken(to) || isUntouched(new, store), let enclosure = try? Enclosure(library),
      (try? enclosure.make(parentFolder(to))) != nil
    else { return false }
    return rename(from, to) == 0
  }
}

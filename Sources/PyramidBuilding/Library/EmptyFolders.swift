import Foundation
import Glibc
package import TileStorage
package import ZigguratFiles
import ZigguratMetadata

/// Folders of a library from which the last image went.
package enum EmptyFolders {
  /// Removes those in which nothing is left but the description of the book that they were. One that a person wrote or
  /// edited goes along with a book that was renamed, or stays.
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
    // A folder that is not empty, or a link, stays.
    return rmdir(path) == 0
  }

  /// Throws an error if an image is the last page of a book that a person has described. A private space keeps no
  /// descriptions, and the file would stay publicly readable in the library.
  package static func requireSealable(_ id: ImageID, in library: String) throws(StorageError) {
    let store = FolderStore(library: library)
    var next = id.folder
    while let book = next, store.pages(below: book).allSatisfy({ $0 == id }) {
      let path = FolderStore.bookFile(of: book, in: library)
      if isNameTaken(path), !isUntouched(book, store) {
        throw StorageError(
          "move \(id)",
          "it is the last page of '\(book)', and a private space cannot keep the book's edited description: "
            + "move \(book)/\(BookDescription.fileName) out of the library first",
          code: EOPNOTSUPP)
      }
      next = book.folder
    }
  }

  /// Removes the built descriptions of books whose last page was moved to a private space.
  package static func removeAfterSealing(_ id: ImageID, in library: String) throws(StorageError) {
    let store = FolderStore(library: library)
    var next = id.folder
    while let book = next, store.pages(below: book).isEmpty {
      if isUntouched(book, store) { try store.keep(bookFile: nil, of: book) }
      next = book.folder
    }
    remove(after: [id], in: store)
  }

  /// Whether a build wrote the description of a book, without later edits.
  private static func isUntouched(_ book: ImageID, _ store: any ArchiveStore) -> Bool {
    store.bookFile(of: book).flatMap { try? BookDescription(json: $0) }?.isUntouched == true
  }

  /// Moves the description that a person wrote to where the book's pages are now, unless another person's is there.
  /// - Returns: whether it was moved.
  private static func moveDescription(
    of book: ImageID, in library: String, _ store: any ArchiveStore
  ) -> Bool {
    let from = FolderStore.bookFile(of: book, in: library)
    guard let new = IDRedirects(library: library).newName(ofBook: book, describedBy: from) else {
      return false
    }
    let to = FolderStore.bookFile(of: new, in: library)
    guard !isNameTaken(to) || isUntouched(new, store), let enclosure = try? RootDirectory(library),
      (try? enclosure.make(parentFolder(to))) != nil
    else { return false }
    return rename(from, to) == 0
  }
}

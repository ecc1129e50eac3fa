import TileStorage
import ZigguratCatalog
package import ZigguratFiles

/// An image that was made from a file, or the book of the file's pages.
package struct MadeImage: Hashable, Sendable {
  package let id: ImageID
  /// The first of its archives.
  package let first: ImageID
  /// The number of existing pages of a file; nil for a single image, and for a page of a book of several files.
  package var pages: Int?
}

extension [MadeImage] {
  /// Creates the images of archives that were made from one file, by id. The pages of a book are one image.
  init(_ entries: [CatalogEntry]) {
    self = []
    for entry in entries {
      let isPage = entry.page != nil && entry.book != nil && entry.book == entry.id.folder
      if isPage, let at = firstIndex(where: { $0.id == entry.book }) {
        self[at].pages = self[at].pages.map { $0 + 1 }
      } else {
        append(MadeImage(id: entry.item, first: entry.id, pages: isPage ? 1 : nil))
      }
    }
  }
}

extension TableRepository {
  /// Updates the catalog first. Archives in the catalog are not opened.
  package func images(madeFrom digest: String) throws(StorageError) -> [MadeImage] {
    if refresh() { try updateCatalog() }
    let table = current
    return [MadeImage](
      try catalog.entries(madeFrom: digest).filter { table.entry($0.id)?.fileVersion == $0.fileVersion })
  }
}

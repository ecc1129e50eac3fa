import TileStorage
import ZigguratCatalog
package import ZigguratFiles

/// An image that was made from a file, or the book of the file's pages.
package struct MadeImage: Hashable, Sendable {
  package let id: ImageID
  /// The first of its archives.
  package let first: ImageID
  /// The number of pages of a file that are there; nil for an image by itself, and for a page of a book of several files.
  package var pages: Int?
}

extension Library {
  /// Returns the images that were made from such a file, by id.
  ///
  /// They are looked up in the catalog, which is first brought to what the folders hold: no archive is opened that
  /// the catalog knows.
  /// - Parameter digest: of the file's content, as build records have it.
  package func images(madeFrom digest: String) throws(StorageError) -> [MadeImage] {
    var entries: [CatalogEntry]
    if rows != nil {
      // What servers share tells what it has, also while what builders have written cannot be read.
      if refresh() { _ = try? updateCatalog() }
      entries = try catalog.entries(madeFrom: digest)
    } else {
      if refresh() { try updateCatalog() }
      let table = current
      entries = try catalog.entries(madeFrom: digest).filter { table.entry($0.id)?.stamp == $0.stamp }
    }
    var images: [MadeImage] = []
    for entry in entries {
      let isPage = entry.page != nil && entry.book != nil && entry.book == entry.id.folder
      if isPage, let at = images.firstIndex(where: { $0.id == entry.book }) {
        images[at].pages = images[at].pages.map { $0 + 1 }
      } else {
        images.append(MadeImage(id: entry.item, first: entry.id, pages: isPage ? 1 : nil))
      }
    }
    return images
  }

  /// What the image, or book, is called now that had the id before its source was renamed; nil where none had, or it is
  /// there no more.
  package func id(ofMoved old: ImageID) -> ImageID? {
    guard source == nil else { return nil }
    let table = current
    return MovedImages(library: root).id(old) { table.entry($0) != nil || table.hasImages(below: $0) }
  }
}

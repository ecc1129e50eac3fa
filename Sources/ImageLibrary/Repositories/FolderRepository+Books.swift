import TileStorage
import ZigguratCatalog
package import ZigguratFiles
package import ZigguratMetadata

extension FolderRepository {
  /// The decoded file of a book.
  struct DescribedBook {
    let identity: FileIdentity
    /// The description; nil if the file is invalid.
    let description: BookDescription?
  }

  /// Returns the description of a book. Each version of its file is decoded once and cached; an invalid file is
  /// ignored.
  package func description(ofBook id: ImageID) -> BookDescription? {
    let path = FolderStore.bookFile(of: id, in: root)
    guard let identity = FileIdentity(path: path) else { return nil }
    if let known = describedBooks.withLock({ $0.value(for: id) }), known.identity == identity {
      return known.description
    }
    guard let bytes = current.bytes(ofFile: path, atMost: BookDescription.maxLength + 1) else { return nil }
    let book = DescribedBook(identity: identity, description: try? BookDescription(json: bytes))
    // Decoded strings and lists take a few times the size of their text.
    describedBooks.withLock { $0.insert(book, for: id, weight: 4 * bytes.count + 256) }
    return book.description
  }

  package func updateBooks() throws(StorageError) {
    hasNewsOfBooks.withLock { $0 = false }
    var changed: [Catalog.BookMetadata] = []
    for (book, fileVersion) in try catalog.bookVersions() {
      let file = SidecarFile(path: FolderStore.bookFile(of: book, in: root))
      let now = file.map { FileVersion($0.identity, sidecar: $0.identity).sidecar } ?? 0
      guard now != fileVersion else { continue }
      let said = file == nil ? nil : description(ofBook: book)
      changed.append(
        Catalog.BookMetadata(
          id: book, fileVersion: now, metadata: said?.metadata ?? ImageMetadata(), cover: said?.cover))
    }
    try catalog.describe(changed)
  }
}

extension FolderRepository {
  package func newID(of old: ImageID, _ table: LibraryTable) -> ImageID? {
    IDRedirects(library: root).id(old) { table.entry($0) != nil || table.hasImages(below: $0) }
  }
}

import TileStorage
import ZigguratCatalog
package import ZigguratFiles
package import ZigguratMetadata

extension Library {
  /// A book's file as it was decoded.
  struct DescribedBook {
    let identity: FileIdentity
    /// `nil` if the file is no description.
    let description: BookDescription?
  }

  /// Returns what describes a book as a whole, beside its pages; nil if nothing does, or nothing that can be used.
  /// Each version of the file is decoded once, while there is room to keep it.
  package func description(ofBook id: ImageID) -> BookDescription? {
    guard source == nil else { return nil }
    let path = FolderStore.bookFile(of: id, in: root)
    guard let identity = FileIdentity(path: path) else { return nil }
    if let known = describedBooks.withLock({ $0.value(for: id) }), known.identity == identity {
      return known.description
    }
    guard let bytes = current.bytes(ofFile: path, atMost: BookDescription.longest + 1) else { return nil }
    let book = DescribedBook(identity: identity, description: try? BookDescription(json: bytes))
    // Strings and lists take a few times their text.
    describedBooks.withLock { $0.insert(book, for: id, weight: 4 * bytes.count + 256) }
    return book.description
  }

  /// Brings to the catalog what is said of books as wholes, where that has changed.
  func describeBooks() throws(StorageError) {
    guard source == nil else { return }
    var changed: [Catalog.BookWords] = []
    for (book, stamp) in try catalog.bookStamps() {
      let file = SidecarFile(path: FolderStore.bookFile(of: book, in: root))
      let now = file.map { FileStamp($0.identity, sidecar: $0.identity).sidecar } ?? 0
      guard now != stamp else { continue }
      let said = file == nil ? nil : description(ofBook: book)
      changed.append(
        Catalog.BookWords(id: book, stamp: now, words: said?.metadata ?? ImageMetadata(), cover: said?.cover))
    }
    try catalog.describe(changed)
  }
}

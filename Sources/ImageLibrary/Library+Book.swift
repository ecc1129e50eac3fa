import Catalog
package import Files
package import Metadata
import TileStorage

extension Library {
  /// What describes a book as a whole, beside its pages; nil where nothing does, or nothing that can be used.
  package func description(ofBook id: ImageID) -> BookDescription? {
    let path = FolderStore.bookFile(of: id, in: root)
    guard let bytes = current.bytes(ofFile: path, atMost: BookDescription.longest + 1) else { return nil }
    return try? BookDescription(json: bytes)
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

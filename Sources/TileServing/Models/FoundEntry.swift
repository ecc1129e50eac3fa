import ZigguratCatalog
import ZigguratFiles

/// An entry of a catalog, with the repository in which it was found.
struct FoundEntry {
  let repository: ImageReference.Repository
  /// The entry, whose ids are those of the repository.
  var entry: CatalogEntry

  init(_ entry: CatalogEntry, in repository: ImageReference.Repository) {
    self.repository = repository
    self.entry = entry
  }

  var reference: ImageReference { ImageReference(entry.id, in: repository) }

  /// The book of a page, or of the page that is a book's cover.
  var book: ImageReference? { entry.book.map { ImageReference($0, in: repository) } }
}

import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratMetadata

/// Books: folders or files whose images are pages.
extension LibraryHandler {
  func title(ofBook id: ImageID) -> String? { describedBook(id)?.metadata.title }

  /// As the visitor calls it; nil where there is no such book.
  func cover(ofBook id: ImageID) throws(StorageError) -> CatalogEntry? {
    guard let place = place(id), let cover = try place.library.catalog.cover(ofBook: place.id) else {
      return nil
    }
    return id.isPrivate ? cover.marked : cover
  }

  func firstPage(ofBook id: ImageID) -> CatalogEntry? {
    place(id).flatMap { try? $0.library.catalog.firstPage(ofBook: $0.id) }
  }

  func describedBook(_ id: ImageID) -> BookDescription? {
    place(id).flatMap { $0.library.description(ofBook: $0.id) }
  }

  func number(ofPage id: ImageID, in book: ImageID) throws(StorageError) -> Int? {
    guard let place = place(book) else { return nil }
    return try place.library.catalog.number(ofPage: id.unmarked ?? id, in: place.id)
  }

  func pageCount(ofBook id: ImageID) throws(StorageError) -> Int {
    guard let place = place(id) else { return 1 }
    return try place.library.catalog.pageCount(ofBook: place.id)
  }

  /// An image, or a book by its cover and what describes it as a whole.
  func described(item entry: CatalogEntry) -> ImageDescription? {
    var entry = entry
    if let cover = entry.cover, let id = entry.book, let book = describedBook(id) {
      // Without a cover of its own, a book has its first page as its cover.
      let first = book.cover == nil ? nil : firstPage(ofBook: id)?.metadata
      entry.metadata = book.words(besides: first ?? entry.metadata, title: cover.title)
      entry.cover?.title = entry.metadata.title
    }
    return ImageDescription(item: entry, base: base)
  }

  /// Makes the rest of the reply for an image, or for the cover of a book.
  /// - Parameter rest: gets the id of the image; nil if the path has no id.
  func withCover(of id: ImageID?, _ rest: @escaping @Sendable (Self, ImageID?) -> Reply) -> Reply {
    guard let id, let place = place(id), isNoImage(place) else { return rest(self, id) }
    return self.rest(on: asksDatabase(about: id) ? images.catalogQueue : nil) { handler in
      do throws(StorageError) {
        guard let cover = try handler.cover(ofBook: id) else { return rest(handler, id) }
        return handler.knowing([cover.id]) { rest($0, cover.id) }
      } catch { return .response(.unlisted(error)) }
    }
  }
}

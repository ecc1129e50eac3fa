import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratMetadata

/// Books: folders or files whose images are pages.
extension LibraryHandler {
  func title(ofBook book: ImageReference) -> String? { describedBook(book)?.metadata.title }

  /// Returns the page that represents a book; nil if there is no such book.
  func cover(ofBook book: ImageReference) throws(StorageError) -> FoundEntry? {
    guard let place = place(book), let cover = try place.library.catalog.cover(ofBook: place.id) else {
      return nil
    }
    return FoundEntry(cover, in: book.repository)
  }

  func firstPage(ofBook book: ImageReference) -> CatalogEntry? {
    place(book).flatMap { try? $0.library.catalog.firstPage(ofBook: $0.id) }
  }

  func describedBook(_ book: ImageReference) -> BookDescription? {
    place(book).flatMap { $0.library.description(ofBook: $0.id) }
  }

  /// - Parameter id: of the page, in the book's repository.
  func number(ofPage id: ImageID, in book: ImageReference) throws(StorageError) -> Int? {
    guard let place = place(book) else { return nil }
    return try place.library.catalog.number(ofPage: id, in: place.id)
  }

  func pageCount(ofBook book: ImageReference) throws(StorageError) -> Int {
    guard let place = place(book) else { return 1 }
    return try place.library.catalog.pageCount(ofBook: place.id)
  }

  /// Describes an image, or a book by its cover and its own description.
  func described(item found: FoundEntry) -> ImageDescription? {
    var found = found
    if let cover = found.entry.cover, let reference = found.book, let book = describedBook(reference) {
      // Without a cover of its own, a book has its first page as its cover.
      let first = book.cover == nil ? nil : firstPage(ofBook: reference)?.metadata
      found.entry.metadata = book.merged(besides: first ?? found.entry.metadata, title: cover.title)
      found.entry.cover?.title = found.entry.metadata.title
    }
    return ImageDescription(item: found, base: base)
  }

  /// Makes the rest of the reply for an image, or for the cover of a book.
  /// - Parameter rest: gets the image; nil if the path names none.
  func withCover(
    of reference: ImageReference?, _ rest: @escaping @Sendable (Self, ImageReference?) -> Reply
  ) -> Reply {
    guard let reference, let place = place(reference), isNoImage(place) else { return rest(self, reference) }
    return self.rest(on: asksDatabase(about: reference) ? images.catalogQueue : nil) { handler in
      do throws(StorageError) {
        guard let cover = try handler.cover(ofBook: reference)?.reference else {
          return rest(handler, reference)
        }
        return handler.knowing([cover]) { rest($0, cover) }
      } catch { return .response(.catalogError(error)) }
    }
  }
}

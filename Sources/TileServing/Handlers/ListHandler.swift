import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratMetadata

/// `/api/images`: the library, paged and searchable.
struct ListHandler: LibraryHandler {
  var context: RequestContext
  let images: ImageAccess
  /// Whether images can be added over HTTP.
  let isWritable: Bool

  /// `/api/images?limit=&cursor=&q=&sort=&folder=&book=&fields=`
  func list() -> Response {
    let decoded = decodedQuery
    let query: ListQuery
    do throws(ListQuery.ValidationError) { query = try ListQuery(decoded.parameters) } catch {
      return decoded.problem(error.errors) ?? .problem("Bad parameter", error.errors)
    }
    if let problem = decoded.problem() { return problem }
    struct Page: Encodable {
      let images: [ListedItem]
      let total: Int
      let nextCursor: String?
      /// Right below the folder that is listed, on the first page of all that it holds.
      let folders: [ImageReference]?
      /// Advice for an empty library.
      let hint: String?
    }
    do throws(StorageError) {
      let listing = try principal.list(
        library, query.selection, in: query.repository, after: query.position, limit: query.limit)
      let descriptions: [ImageDescription?]
      if case .book(let id) = query.selection.scope, let repository = query.repository {
        descriptions = try described(pages: listing.entries, of: ImageReference(id, in: repository))
      } else {
        descriptions = listing.entries.map(described(item:))
      }
      let images = descriptions.compactMap { $0.map { ListedItem($0, query.fields) } }
      let isEmpty = listing.total == 0 && query.selection.isWhole && !isWritable
      let page = Response.json(
        Page(
          images: images, total: listing.total, nextCursor: listing.next?.text, folders: try folders(query),
          hint: isEmpty ? "pictures become images by 'ziggurat build PICTURES --library DIR'" : nil))
      return listing.entries.contains(where: \.entry.isWordless) ? page.uncacheable : page
    } catch {
      return .catalogError(error)
    }
  }

  /// Returns the folders right below the one that is listed, those of an unlocked space first; nil if the response has
  /// none.
  private func folders(_ query: ListQuery) throws(StorageError) -> [ImageReference]? {
    guard query.position == nil, query.selection.text?.isEmpty != false else { return nil }
    if case .book = query.selection.scope { return nil }
    let repositories = query.repository.map { [$0] } ?? [.space, .library]
    var folders: [ImageReference] = []
    for name in repositories {
      guard let repository = repository(name) else { continue }
      folders += try repository.catalog.folders(in: query.selection.scope.place)
        .map { ImageReference($0, in: name) }
    }
    return folders
  }

  private func described(
    pages: [FoundEntry], of book: ImageReference
  ) throws(StorageError) -> [ImageDescription?] {
    let count = try pageCount(ofBook: book)
    var numbers: [ImageID: Int] = [:]
    if pages.contains(where: { $0.entry.page == nil }), let place = place(book) {
      numbers = try place.library.catalog.numbers(ofBook: place.id)
    }
    return pages.map { page in
      var page = page
      page.entry.page = page.entry.page ?? numbers[page.entry.id]
      return ImageDescription(page, pages: count, base: base)
    }
  }
}

import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratMetadata

/// `/api/images`: the library, paged and searchable.
struct ListHandler: LibraryHandler {
  var call: Call
  let images: ImageAccess
  /// Whether images can be added over HTTP.
  let isWritable: Bool

  /// `/api/images?limit=&cursor=&q=&sort=&folder=&book=&fields=`
  func list() -> Response {
    let decoded = decodedQuery
    let query: ListQuery
    do throws(ListQuery.Refusal) { query = try ListQuery(decoded.parameters) } catch {
      return decoded.problem(error.errors) ?? .problem("Bad parameter", error.errors)
    }
    if let problem = decoded.problem() { return problem }
    struct Page: Encodable {
      let images: [ListedImage]
      let total: Int
      let nextCursor: String?
      /// Right below the folder that is listed, on the first page of all that it holds.
      let folders: [String]?
      /// What to do where there is nothing yet.
      let hint: String?
    }
    do throws(StorageError) {
      let listing = try visitor.list(
        library, query.selection, after: query.cursor, limit: query.limit)
      let descriptions: [ImageDescription?]
      if case .book(let book) = query.selection.scope {
        descriptions = try described(pages: listing.entries, of: book)
      } else {
        descriptions = listing.entries.map(described(item:))
      }
      let images = descriptions.compactMap { $0.map { ListedImage($0, query.fields) } }
      let isEmpty = listing.total == 0 && query.selection.isWhole && !isWritable
      let page = Response.json(
        Page(
          images: images, total: listing.total, nextCursor: listing.next, folders: try folders(query),
          hint: isEmpty ? "pictures become images by 'ziggurat build PICTURES --library DIR'" : nil))
      return listing.entries.contains(where: \.isWordless) ? page.forNow : page
    } catch {
      return .unlisted(error)
    }
  }

  /// Those of an open space stand in front, as its images do.
  private func folders(_ query: ListQuery) throws(StorageError) -> [String]? {
    guard query.cursor == nil, query.selection.text?.isEmpty != false else { return nil }
    if case .book = query.selection.scope { return nil }
    guard let folder = query.selection.scope.place else {
      let own = try visitor.space?.library.catalog.folders(in: nil).map(\.marked) ?? []
      return try (own + library.catalog.folders(in: nil)).map(\.text)
    }
    guard let place = place(folder) else { return [] }
    let found = try place.library.catalog.folders(in: place.id)
    return found.map { folder.isPrivate ? $0.marked.text : $0.text }
  }

  private func described(
    pages: [CatalogEntry], of book: ImageID
  ) throws(StorageError) -> [ImageDescription?] {
    let count = try pageCount(ofBook: book)
    var numbers: [ImageID: Int] = [:]
    if pages.contains(where: { $0.page == nil }), let place = place(book) {
      numbers = try place.library.catalog.numbers(ofBook: place.id)
    }
    return pages.map { page in
      var page = page
      page.page = page.page ?? numbers[page.id.unmarked ?? page.id]
      return ImageDescription(page, pages: count, base: base)
    }
  }
}

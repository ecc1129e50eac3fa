import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratMetadata

/// The library, paged and searchable, and one image of it.
extension Router {
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
        site.library, query.selection, after: query.cursor, limit: query.limit)
      let descriptions: [ImageDescription?]
      if case .book(let book) = query.selection.scope {
        descriptions = try described(pages: listing.entries, of: book)
      } else {
        descriptions = listing.entries.map(described(item:))
      }
      let images = descriptions.compactMap { $0.map { ListedImage($0, query.fields) } }
      let isEmpty = listing.total == 0 && query.selection.isWhole && !site.access.isWritable
      let page = Response.json(
        Page(
          images: images, total: listing.total, nextCursor: listing.next, folders: try folders(query),
          hint: isEmpty ? "pictures become images by 'ziggurat build PICTURES --library DIR'" : nil))
      return listing.entries.contains(where: \.isWordless) ? page.forNow : page
    } catch {
      return Self.unlisted(error)
    }
  }

  /// The answer if the catalog cannot be reached.
  static func unlisted(_ error: StorageError) -> Response {
    if error.kind == .unreachable {
      var response = Response.problem(
        503, "Unavailable", "the images of the library cannot be listed at present; try again")
      response["Retry-After"] = "1"
      return response.because(error)
    }
    return .problem(500, "Unreadable", "the library's catalog cannot be read").because(error)
  }

  /// Those of an open space stand in front, as its images do.
  private func folders(_ query: ListQuery) throws(StorageError) -> [String]? {
    guard query.cursor == nil, query.selection.text?.isEmpty != false else { return nil }
    if case .book = query.selection.scope { return nil }
    guard let folder = query.selection.scope.place else {
      let own = try visitor.space?.library.catalog.folders(in: nil).map(\.marked) ?? []
      return try (own + site.library.catalog.folders(in: nil)).map(\.text)
    }
    guard let place = place(folder) else { return [] }
    let found = try place.library.catalog.folders(in: place.id)
    return found.map { folder.isPrivate ? $0.marked.text : $0.text }
  }

  /// `/api/images/{id}`
  func describe(_ id: ImageID?) -> Reply {
    rest(on: queueToDescribe(id)) { .response($0.description(of: id)) }
  }

  /// The queue on which an image is described; nil if that does not block.
  func queueToDescribe(_ id: ImageID?) -> BlockingQueue? {
    // The original first: its queue waits for the rest, too, and holds up nobody else.
    if let id, mustReadOriginal(id) { return site.originals }
    return queueForMetadata(id) ?? (asksDatabase(about: id) ? site.reading : nil)
  }

  func description(of id: ImageID?) -> Response {
    do throws(StorageError) {
      if let id, let book = try description(ofBook: id) { return .json(book) }
    } catch { return Self.unlisted(error) }
    return knownNow(id, problem: true) { entry, archive in
      var entry = entry
      var pages = 1
      if let book = entry.book {
        do throws(StorageError) {
          pages = try pageCount(ofBook: book)
          if entry.page == nil { entry.page = try number(ofPage: entry.id, in: book) }
        } catch { return Self.unlisted(error) }
      }
      guard var description = ImageDescription(entry, pages: pages, base: base) else {
        return .problem(500, "Unreadable", "the archive of this image cannot be read")
      }
      description.animation = archive.buildRecord?.animation.map { animation in
        ImageDescription.Animation(
          frames: animation.frames, type: animation.mediaType,
          url:
            "\(base)/api/images/\(PercentEncoding.encode(entry.id.text))/animation?v=\(description.generation)"
        )
      }
      description.dimensions = archive.buildRecord?.dimensions
      let book = entry.book.flatMap(describedBook)
      description.bookTitle = book?.metadata.title
      description.viewingDirection = book?.viewingDirection?.rawValue
      guard let original = originalDescription(entry.id, archive, base: base) else {
        return .json(description)
      }
      description.original = original
      let response = Response.json(description)
      return site.access.offersOriginals ? response : response.madePrivate(keepingTag: true)
    }
  }

  /// The moving picture as it came.
  func animation(_ archive: TileArchive) -> Response {
    guard let animation = archive.buildRecord?.animation else {
      return .problem(404, "Not found", "this image is not animated")
    }
    guard let bytes = archive.bytes(of: animation) else {
      return .problem(500, "Unreadable", "the animation cannot be read from its archive")
    }
    return Response(
      200,
      [
        ("Content-Type", animation.mediaType),
        ("ETag", EntityTag(of: Array("animation".utf8), generation: archive.generation).text),
        ("Cache-Control", lifetime(of: archive)), Response.anyOrigin,
      ], .bytes(Array(bytes)))
  }

  /// Where there is a book of this id, and no image.
  private func description(ofBook id: ImageID) throws(StorageError) -> ImageDescription? {
    guard let place = place(id), isNoImage(place) else { return nil }
    var description = try cover(ofBook: id).flatMap(described(item:))
    description?.viewingDirection = describedBook(id)?.viewingDirection?.rawValue
    return description
  }

  /// An image, or a book by its cover and what describes it as a whole.
  private func described(item entry: CatalogEntry) -> ImageDescription? {
    var entry = entry
    if let cover = entry.cover, let id = entry.book, let book = describedBook(id) {
      // Without a cover of its own, a book has its first page as its cover.
      let first = book.cover == nil ? nil : firstPage(ofBook: id)?.metadata
      entry.metadata = book.words(besides: first ?? entry.metadata, title: cover.title)
      entry.cover?.title = entry.metadata.title
    }
    return ImageDescription(item: entry, base: base)
  }

  private func describedBook(_ id: ImageID) -> BookDescription? {
    place(id).flatMap { $0.library.description(ofBook: $0.id) }
  }

  func title(ofBook id: ImageID) -> String? { describedBook(id)?.metadata.title }

  /// As the visitor calls it; nil where there is no such book.
  func cover(ofBook id: ImageID) throws(StorageError) -> CatalogEntry? {
    guard let place = place(id), let cover = try place.library.catalog.cover(ofBook: place.id) else {
      return nil
    }
    return id.isPrivate ? cover.marked : cover
  }

  private func firstPage(ofBook id: ImageID) -> CatalogEntry? {
    place(id).flatMap { try? $0.library.catalog.firstPage(ofBook: $0.id) }
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

  private func number(ofPage id: ImageID, in book: ImageID) throws(StorageError) -> Int? {
    guard let place = place(book) else { return nil }
    return try place.library.catalog.number(ofPage: id.unmarked ?? id, in: place.id)
  }

  private func pageCount(ofBook id: ImageID) throws(StorageError) -> Int {
    guard let place = place(id) else { return 1 }
    return try place.library.catalog.pageCount(ofBook: place.id)
  }
}

import Catalog
import Files
import HTTPMessages
import ImageLibrary
import TileStorage

/// The library, paged and searchable, and one image of it.
extension Router {
  /// `/api/images?limit=&cursor=&q=&sort=&folder=&fields=`
  func list() -> Response {
    guard let parameters = decodedQuery() else {
      return .problem(400, "Bad parameter", "the query has a malformed escape")
    }
    let query: ListQuery
    do throws(ListQuery.Refusal) { query = try ListQuery(parameters) } catch {
      return .problem(400, "Bad parameter", error.description)
    }
    struct Page: Encodable {
      let images: [ListedImage]
      let total: Int
      let next: String?
    }
    do throws(StorageError) {
      let listing = try visitor.list(
        site.library, query.selection, after: query.cursor, limit: query.limit)
      var pages: [ImageID: Int] = [:]
      for book in Set(listing.entries.compactMap(\.book)) { pages[book] = try pageCount(ofBook: book) }
      let images = listing.entries.compactMap { entry in
        ImageDescription(entry, pages: entry.book.flatMap { pages[$0] } ?? 1, base: site.base)
          .map { ListedImage($0, query.fields) }
      }
      let page = Response.json(Page(images: images, total: listing.total, next: listing.next))
      return listing.entries.contains(where: \.isWordless) ? page.forNow : page
    } catch {
      return .problem(500, "Unreadable", "the library's catalog cannot be read").because(error)
    }
  }

  /// `/api/images/{id}`
  func describe(_ id: ImageID?) -> Answer { waiting(for: id) ?? .now(description(of: id)) }

  func description(of id: ImageID?) -> Response {
    knownNow(id, problem: true) { entry, archive in
      let pages = entry.book.flatMap { try? pageCount(ofBook: $0) } ?? 1
      guard var description = ImageDescription(entry, pages: pages, base: site.base) else {
        return .problem(500, "Unreadable", "the archive of this image cannot be read")
      }
      description.animation = archive.buildRecord?.animation.map { animation in
        ImageDescription.Animation(
          frames: animation.frames, type: animation.mediaType,
          url:
            "\(site.base)/api/images/\(PercentEncoding.encode(entry.id.text))/animation?g=\(description.generation)"
        )
      }
      return .json(description)
    }
  }

  /// The moving picture as it came.
  func animation(_ archive: TileArchive) -> Response {
    guard let animation = archive.buildRecord?.animation else {
      return .problem(404, "Not found", "this image does not move")
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

  private func pageCount(ofBook id: ImageID) throws(StorageError) -> Int {
    guard let place = place(id) else { return 1 }
    return try place.library.catalog.pageCount(ofBook: place.id)
  }
}

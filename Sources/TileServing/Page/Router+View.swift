import Catalog
import Files
import HTTPMessages
import TileProtocols

/// The page of one picture.
extension Router {
  /// The viewer's page, of a book its cover's; with 404 where there is no such image, which the page then says in its own words.
  func view(_ id: ImageID?) -> Answer { waiting(for: id) ?? .now(viewNow(id)) }

  private func viewNow(_ id: ImageID?) -> Response {
    let found = id.flatMap(place).flatMap { place in
      (try? place.library.catalogEntry(place.id))?.entry
    }
    // A private picture is nobody's to preview.
    let isOpen = id?.isPrivate == false
    let card = isOpen ? found.flatMap { LinkCard($0, base: absoluteBase, site.identity) } : nil
    var response = page("view.html", frames: site.access.frames, head: card?.html ?? "")
    if response.status == 200, found == nil {
      if let id, let cover = cover(ofBook: id) {
        let segment = PercentEncoding.encode(cover.id.text)
        return Response(
          303, [("Location", "\(site.basePath.text)/view/\(segment)"), ("Cache-Control", "no-store")],
          .bytes([]))
      }
      response.status = 404
      // It may be there for who unlocks a space next.
      response["Cache-Control"] = "no-store"
    }
    return found?.isWordless == true ? response.forNow : response
  }
}

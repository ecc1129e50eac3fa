import Catalog
import Files
import Foundation
import HTTPMessages
import ImageLibrary
import TileStorage

/// IIIF Presentation 3.0.
extension Router {
  func presentation(_ request: PresentationRequest) -> Answer {
    do throws(StorageError) {
      switch request {
      case .manifest(let id): return try manifest(path.id(id))
      case .collection(let page):
        let own = visitor.space.map { (isPrivate: true, $0.library.catalog) }
        let collection = PresentationCollection(
          shelves: [own, (isPrivate: false, site.library.catalog)].compactMap(\.self), base: absoluteBase)
        if let json = try collection.json(page: page) { return .now(linkedData(json)) }
      case .nothing: break
      }
    } catch {
      return .now(Response.text(500, "the library's catalog cannot be read").because(error))
    }
    return .text(404, "there is no manifest or collection at this path")
  }

  private func manifest(_ id: ImageID?) throws(StorageError) -> Answer {
    if let id, let place = place(id) {
      var pages = try place.library.catalog.pages(ofBook: place.id)
      if !pages.isEmpty {
        if id.isPrivate { for at in pages.indices { pages[at].id = pages[at].id.marked } }
        return .now(linkedData(PresentationManifest(id: id, pages: pages, base: absoluteBase).json))
      }
    }
    return known(id, problem: false) { entry, _ in
      linkedData(PresentationManifest(id: entry.id, pages: [entry], base: absoluteBase).json)
    }
  }

  /// `@context` sorts first.
  private func linkedData(_ json: JSONValue) -> Response { .json(json, as: PresentationManifest.mediaType) }
}

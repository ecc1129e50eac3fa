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
      case .manifest(let id): return try manifest(path.text(id))
      case .collection(let page):
        let own = visitor.space.map { ("\(SpaceLibrary.prefix)", $0.library.catalog) }
        let collection = PresentationCollection(
          shelves: [own, ("", site.library.catalog)].compactMap { $0 }, base: absoluteBase)
        if let json = try collection.json(page: page) { return .now(linkedData(json)) }
      case .nothing: break
      }
    } catch {
      return .text(500, "the library's catalog cannot be read")
    }
    return .text(404, "there is no manifest or collection at this path")
  }

  private func manifest(_ id: String) throws(StorageError) -> Answer {
    let place = place(id)
    var pages = try place?.library.catalog.pages(ofBook: place?.id ?? "") ?? []
    if !pages.isEmpty {
      let prefix = id.dropLast(place?.id.count ?? 0)
      for at in pages.indices { pages[at].id = prefix + pages[at].id }
      return .now(linkedData(PresentationManifest(id: id, pages: pages, base: absoluteBase).json))
    }
    return known(id, problem: false) { entry, _ in
      linkedData(PresentationManifest(id: id, pages: [entry], base: absoluteBase).json)
    }
  }

  private func linkedData(_ json: [String: Any]) -> Response {
    // Strings, numbers, lists and objects of them always serialise; `@context` sorts first.
    let data = try! JSONSerialization.data(
      withJSONObject: json, options: [.sortedKeys, .withoutEscapingSlashes])
    return .json(Array(data), PresentationManifest.mediaType)
  }
}

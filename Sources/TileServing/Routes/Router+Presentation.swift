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
      case .collection(let folder, let page):
        if let collection = collection(folder), let json = try collection.json(page: page) {
          return .now(linkedData(json))
        }
      case .nothing: break
      }
    } catch {
      return .now(Self.unlisted(error))
    }
    return .text(404, "there is no manifest or collection at this path")
  }

  /// - Parameter folder: where its id stands in the path; nil for the whole library.
  /// - Returns: nil where there can be no such folder for the visitor.
  private func collection(_ folder: Range<Int>?) -> PresentationCollection? {
    let space = visitor.space?.library.catalog
    func collection(_ folder: ImageID?, of catalog: Catalog, besides space: Catalog?)
      -> PresentationCollection
    {
      PresentationCollection(
        catalog: catalog, titles: title(ofBook:), folder: folder, space: space, identity: site.identity,
        base: absoluteBase)
    }
    guard let folder else { return collection(nil, of: site.library.catalog, besides: space) }
    guard let id = path.id(folder) else { return nil }
    if id.isPrivate || id == PresentationCollection.privateFolder {
      return space.map { collection(id, of: $0, besides: nil) }
    }
    return collection(id, of: site.library.catalog, besides: nil)
  }

  private func manifest(_ id: ImageID?) throws(StorageError) -> Answer {
    if let id, let place = place(id) {
      var pages: [CatalogEntry] = []
      do throws(StorageError) { pages = try place.library.catalog.pages(ofBook: place.id) } catch {
        // What is known to be an image is no book, whether the catalog can be asked or not.
        guard case .some(.some) = try? place.library.entry(place.id) else { throw error }
      }
      if !pages.isEmpty {
        if id.isPrivate { pages = pages.map(\.marked) }
        var manifest = manifest(id, pages)
        manifest.book = place.library.description(ofBook: place.id)
        return .now(linkedData(manifest.json))
      }
    }
    return known(id, problem: false) { entry, _ in
      linkedData(manifest(entry.id, [entry]).json)
    }
  }

  private func manifest(_ id: ImageID, _ pages: [CatalogEntry]) -> PresentationManifest {
    PresentationManifest(id: id, pages: pages, base: absoluteBase, identity: site.identity)
  }

  /// `@context` sorts first.
  private func linkedData(_ json: JSONValue) -> Response { .json(json, as: PresentationManifest.mediaType) }
}

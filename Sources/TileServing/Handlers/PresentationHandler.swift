import Foundation
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratText
import ZigguratTileProtocols

/// IIIF Presentation 3.0, and manifests of 2.1.
struct PresentationHandler: LibraryHandler {
  var call: Call
  let images: ImageAccess
  let identity: SiteIdentity

  func reply(_ request: PresentationRequest) -> Reply {
    do throws(StorageError) {
      switch request {
      case .manifest(let id, let version): return try manifest(path.id(id), version)
      case .collection(let folder, let page):
        if let collection = collection(folder), let json = try collection.json(page: page) {
          return .response(linkedData(json, PresentationManifest.forms))
        }
      case .nothing: break
      }
    } catch {
      return .response(.unlisted(error))
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
        catalog: catalog, titles: title(ofBook:), folder: folder, space: space, identity: identity,
        base: absoluteBase)
    }
    guard let folder else { return collection(nil, of: library.catalog, besides: space) }
    guard let id = path.id(folder) else { return nil }
    if id.isPrivate || id == PresentationCollection.privateFolder {
      return space.map { collection(id, of: $0, besides: nil) }
    }
    return collection(id, of: library.catalog, besides: nil)
  }

  private func manifest(_ id: ImageID?, _ version: IIIFVersion) throws(StorageError) -> Reply {
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
        return .response(linkedData(manifest, version))
      }
    }
    return known(id, problem: false) { handler, entry, _ in
      handler.linkedData(handler.manifest(entry.id, [entry]), version)
    }
  }

  private func manifest(_ id: ImageID, _ pages: [CatalogEntry]) -> PresentationManifest {
    PresentationManifest(id: id, pages: pages, base: absoluteBase, identity: identity)
  }

  private func linkedData(_ manifest: PresentationManifest, _ version: IIIFVersion) -> Response {
    switch version {
    case .three: linkedData(manifest.json, PresentationManifest.forms)
    case .two: linkedData(PresentationManifest2(manifest).json, PresentationManifest2.forms)
    }
  }

  /// `@context` sorts first.
  private func linkedData(_ json: JSONValue, _ forms: [TileDocument.Form]) -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings, finite numbers and lists always encode.
    return negotiated(Array(try! encoder.encode(json)), forms)
  }
}

import Foundation
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratText
import ZigguratTileProtocols

/// Serves IIIF Presentation 3.0, and manifests of 2.1.
struct PresentationHandler: LibraryHandler {
  var context: RequestContext
  let images: ImageAccess
  let identity: SiteIdentity

  func reply(_ request: PresentationRequest) -> Reply {
    do throws(StorageError) {
      switch request {
      case .manifest(let id, let version): return try manifest(path.reference(id), version)
      case .collection(let folder, let page):
        if let collection = collection(folder), let json = try collection.json(page: page) {
          return .response(linkedData(json, PresentationManifest.forms))
        }
      case .nothing: break
      }
    } catch {
      return .response(.catalogError(error))
    }
    return .text(404, "there is no manifest or collection at this path")
  }

  /// - Parameter folder: the range of the folder's id in the path; nil for the whole library.
  /// - Returns: nil if the principal can see no such folder.
  private func collection(_ folder: Range<Int>?) -> PresentationCollection? {
    guard let folder = folder.map({ FolderReference(path.text($0)) }) ?? .library,
      let repository = repository(folder.repository)
    else { return nil }
    return PresentationCollection(
      catalog: repository.catalog, titles: title(ofBook:), folder: folder,
      space: folder == .library ? principal.space?.library.catalog : nil, identity: identity,
      base: absoluteBase)
  }

  private func manifest(
    _ reference: ImageReference?, _ version: IIIFVersion
  ) throws(StorageError) -> Reply {
    if let reference, let place = place(reference) {
      var pages: [CatalogEntry] = []
      do throws(StorageError) { pages = try place.library.catalog.pages(ofBook: place.id) } catch {
        // A known image is not a book, even if the catalog is unavailable.
        guard case .some(.some) = try? place.library.entry(place.id) else { throw error }
      }
      if !pages.isEmpty {
        var manifest = manifest(reference, pages.map { FoundEntry($0, in: reference.repository) })
        manifest.book = place.library.description(ofBook: place.id)
        return .response(linkedData(manifest, version))
      }
    }
    return known(reference, problem: false) { handler, found, _ in
      handler.linkedData(handler.manifest(found.reference, [found]), version)
    }
  }

  private func manifest(_ reference: ImageReference, _ pages: [FoundEntry]) -> PresentationManifest {
    PresentationManifest(reference: reference, pages: pages, base: absoluteBase, identity: identity)
  }

  private func linkedData(_ manifest: PresentationManifest, _ version: IIIFVersion) -> Response {
    switch version {
    case .three: linkedData(manifest.json, PresentationManifest.forms)
    case .two: linkedData(PresentationManifest2(manifest).json, PresentationManifest2.forms)
    }
  }

  /// Encodes JSON with sorted keys, so that `@context` is first.
  private func linkedData(_ json: JSONValue, _ forms: [TileDocument.Form]) -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings, finite numbers and lists always encode.
    return negotiated(Array(try! encoder.encode(json)), forms)
  }
}

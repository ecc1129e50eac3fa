import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratText
import ZigguratTileProtocols

/// Links of a manifest to other resources.
extension PresentationManifest {
  /// Adds the collection of the folder or the book of a page, the API's description of the image, and the provider.
  func linked(_ manifest: JSONValue) -> JSONValue {
    var result = manifest
    if !isBook, let book = pages[0].book {
      result["partOf"] = [["id": .text(Self.url(of: book, base: base)), "type": "Manifest"]]
    } else {
      result["partOf"] = [
        PresentationCollection.reference(to: FolderReference(of: reference), identity, base: base)
      ]
    }
    let address = "\(base)/api/images/\(PercentEncoding.encode(reference.text))"
    result["seeAlso"] = [Self.dataset(address, base: base)]
    if let provider = identity.provider { result["provider"] = [provider.json] }
    return result
  }

  /// Returns a `seeAlso` link to JSON of the API, with the API description as its profile (Presentation 3.0,
  /// section 3.3.1).
  static func dataset(_ address: String, base: String) -> JSONValue {
    [
      "id": .text(address), "type": "Dataset", "format": "application/json",
      "label": ["en": ["Description for programs"]], "profile": "\(base)/openapi.json",
    ]
  }

  /// Returns the physical size of a pixel for the rulers of viewers; `nil` if it is unknown.
  static func physicalScale(_ entry: CatalogEntry, of canvas: String) -> JSONValue? {
    entry.micronsPerPixel.map { PhysicalDimensions(micronsPerPixel: $0).service(of: canvas) }
  }
}

import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratText
import ZigguratTileProtocols

/// The links of a manifest besides its pictures.
extension PresentationManifest {
  /// The folder's collection, or the book of a page; the API's description; who stands behind the server.
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

  /// A `seeAlso`: JSON of the API, with its description as the profile (Presentation 3.0, section 3.3.1).
  static func dataset(_ address: String, base: String) -> JSONValue {
    [
      "id": .text(address), "type": "Dataset", "format": "application/json",
      "label": ["en": ["Description for programs"]], "profile": "\(base)/openapi.json",
    ]
  }

  /// How large a pixel is in the world, for viewers' rulers; nil where that is not known.
  static func physicalScale(_ entry: CatalogEntry, of canvas: String) -> JSONValue? {
    entry.micronsPerPixel.map { PhysicalDimensions(micronsPerPixel: $0).service(of: canvas) }
  }
}

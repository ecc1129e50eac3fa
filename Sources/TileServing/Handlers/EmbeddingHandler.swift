import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols

/// Serves `/oembed`: the frame for a link in the query.
struct EmbeddingHandler: LibraryHandler {
  var context: RequestContext
  let images: ImageAccess
  let identity: SiteIdentity

  func reply() -> Reply {
    let query = decodedQuery
    func value(_ name: String) -> String? { query.parameters.last { $0.name == name }?.value }
    // The other format of oEmbed (section 2.3.3).
    guard value("format") != "xml" else { return .problem(501, "Not implemented", "format is json") }
    var errors: [InvalidInput] = []
    if value("url") == nil {
      errors.append(InvalidInput(parameter: "url", "url is missing: the address of a picture's page"))
    }
    if ![nil, "json"].contains(value("format")) {
      errors.append(InvalidInput(parameter: "format", "format is json"))
    }
    var limits: [Int?] = []
    for name in ["maxwidth", "maxheight"] {
      let text = value(name)
      let number = text.flatMap(DecodedQuery.number)
      if text != nil, (number ?? 0) <= 0 {
        errors.append(InvalidInput(parameter: name, "\(name) is a number of pixels above 0"))
      }
      limits.append(number)
    }
    if let problem = query.problem(errors) { return .response(problem) }
    let (base, identity) = (absoluteBase, identity)
    // Private images are not embedded in pages of other sites.
    let reference = value("url").flatMap { image(ofPage: $0) }.flatMap { $0.isPrivate ? nil : $0 }
    let most = (limits[0], limits[1])
    @Sendable func embedding(_ handler: Self, _ reference: ImageReference?) -> Reply {
      handler.known(reference, problem: true) { _, found, _ in
        Embedding(found, base: base, identity, within: most).map { .json($0) }
          ?? .problem(500, "Unreadable", "the archive of this image cannot be read")
      }
    }
    guard let reference, let place = place(reference), isNoImage(place) else {
      return embedding(self, reference)
    }
    return rest(on: asksDatabase(about: reference) ? images.catalogQueue : nil) { handler in
      do throws(StorageError) {
        return embedding(handler, try handler.cover(ofBook: reference)?.reference ?? reference)
      } catch { return .response(.catalogError(error)) }
    }
  }

  /// Returns the image with a page of this URL; nil if it is not the URL of a page of this server.
  private func image(ofPage address: String) -> ImageReference? {
    let host = request.header("Host") ?? ""
    let bases = base.isEmpty ? ["http://\(host)", "https://\(host)"] : [base]
    for page in bases.flatMap({ ["\($0)/view/", "\($0)/embed/"] }) where address.hasPrefix(page) {
      let segment = address.dropFirst(page.count).prefix { $0 != "?" && $0 != "#" }
      return PercentEncoding.decodedString(segment.utf8).flatMap { ImageReference($0) }
    }
    return nil
  }
}

import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileProtocols

/// Redirects the URLs of images whose sources were renamed.
struct RenameHandler: LibraryHandler {
  var context: RequestContext
  let images: ImageAccess

  /// The redirect of a request for an image that has another id now; nil if none has.
  ///
  /// An image or a book that has the id takes precedence over a former one. If a path has an unknown id, the look-up
  /// reads at most one file. An id in another Unicode normal form, as macOS and other systems write it, is also
  /// redirected, because caches know one URL of a tile.
  var toTheNewID: Response? {
    let references = path.withRawPath { path.route.ids($0) }.map(path.reference)
    guard !references.contains(where: { $0?.isPrivate == true }),
      let (index, new) = library.replacement(for: references.map { $0?.id }), let old = references[index]?.id,
      let location = location(replacing: index, old, by: new)
    else { return nil }
    return Response(
      301, [("Location", location), ("Cache-Control", "no-cache"), Response.anyOrigin], .bytes([]))
  }

  /// The images that the path may refer to, by each way to parse it.
  var namedImages: [ImageReference] {
    path.withRawPath { path.route.ids($0) }.compactMap(path.reference).flatMap { reference in
      [reference] + reference.id.otherForms.map { ImageReference($0, in: reference.repository) }
    }
  }

  /// Returns the request's own URL, as sent, with another id.
  ///
  /// - Parameter at: the number of the id among the route's ids.
  private func location(replacing at: Int, _ old: ImageID, by new: ImageID) -> String? {
    let target = request.rawPath + (request.query.isEmpty ? [] : [UInt8(ascii: "?")] + request.query)
    let place = target.withUnsafeBytes { bytes -> Range<Int>? in
      let raw = RawPath(bytes, count: request.rawPath.count)
      let places = Route(raw).ids(raw)
      return places.indices.contains(at) ? places[at] : nil
    }
    // The path may be spelled so unusually that decoding changes its parts.
    guard let place, PercentEncoding.decodedString(target[place]).flatMap(ImageID.init) == old else {
      return nil
    }
    let parts = [target[..<place.lowerBound], target[place.upperBound...]].map {
      String(decoding: $0, as: UTF8.self)
    }
    return pathPrefix + parts[0] + PercentEncoding.encode(new.text) + parts[1]
  }
}

extension Route {
  /// Returns the ranges of the possible ids, for each way to parse the path.
  fileprivate func ids(_ path: RawPath) -> [Range<Int>] {
    switch self {
    case .tiles(let request):
      let ending = request.endingLength(path)
      let short = ending > 0 ? [request.id.lowerBound..<request.id.upperBound - ending] : []
      return (request.wholeID.map { [$0] } ?? []) + [request.id] + short
    case .api(.image(let image)):
      return image.question == nil ? [image.whole] : [image.whole, image.id]
    case .presentation(.manifest(let id, _)), .view(let id), .embed(let id?): return [id]
    case .api, .presentation, .embed, .oEmbed, .openAPI, .health, .metrics, .page: return []
    }
  }
}

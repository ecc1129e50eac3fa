import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileProtocols

/// Redirects addresses of images whose sources were renamed since.
struct RenameHandler: LibraryHandler {
  var call: Call
  let images: ImageAccess

  /// The answer to a request for an image that has another id now: the same address with that.
  ///
  /// An image or a book that has the id stands before whatever had it; that the path of one leads elsewhere costs those
  /// who ask for what is not there a look at one file. So it is with an id in another normal form of Unicode, as macOS
  /// and other systems write the same name: a redirect, since caches know one address of a tile.
  var toTheNewID: Response? {
    let references = path.withRawPath { path.route.ids($0) }.map(path.reference)
    guard !references.contains(where: { $0?.isPrivate == true }),
      let (index, new) = library.replacement(for: references.map { $0?.id }), let old = references[index]?.id,
      let location = location(replacing: index, old, by: new)
    else { return nil }
    return Response(
      301, [("Location", location), ("Cache-Control", "no-cache"), Response.anyOrigin], .bytes([]))
  }

  /// The images that the path may mean, as it is read in one way or another.
  var namedImages: [ImageReference] {
    path.withRawPath { path.route.ids($0) }.compactMap(path.reference).flatMap { reference in
      [reference] + reference.id.otherForms.map { ImageReference($0, in: reference.repository) }
    }
  }

  /// The request's own address, as it was sent, with another id in it.
  /// - Parameter at: which of the route's ids it is.
  private func location(replacing at: Int, _ old: ImageID, by new: ImageID) -> String? {
    let target = request.rawPath + (request.query.isEmpty ? [] : [UInt8(ascii: "?")] + request.query)
    let place = target.withUnsafeBytes { bytes -> Range<Int>? in
      let raw = RawPath(bytes, count: request.rawPath.count)
      let places = Route(raw).ids(raw)
      return places.indices.contains(at) ? places[at] : nil
    }
    // Of a path that is spelled so oddly that its parts are others before it is read.
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
  /// Returns the ranges of the ids that the path may mean, for each way to read it.
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

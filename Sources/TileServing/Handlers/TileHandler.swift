import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols
import ZigguratTileRendering

/// Serves the requests of tile protocols, except stored tiles in their own spelling.
struct TileHandler: PictureHandler {
  var context: RequestContext
  let images: ImageAccess
  let pictures: PictureAccess

  func reply(_ request: TileRequest) -> Reply {
    // An id may contain slashes, and then look like an id with a suffix.
    if let whole = request.wholeID.flatMap(path.reference), isThere(whole, whenAway: false) {
      return .response(redirect(request, whole))
    }
    let name = path.reference(request.id)
    let ending = path.withRawPath { request.endingLength($0) }
    let isWhole = ending == 0 || name.map { isThere($0, whenAway: true) } ?? true
    let reference = isWhole ? name : name?.dropping(ending)
    switch request.subject {
    case .nothing(let reason): return .text(404, reason)
    case .malformed(let reason): return .text(400, reason)
    case .redirect:
      return found(reference, problem: false) { reference, _ in .response(redirect(request, reference)) }
    case .document(hasMetadata: false):
      return found(reference, problem: false) { .response(document(request, $0, $1, $1.metadata)) }
    case .document(hasMetadata: true):
      return known(reference, problem: false) { $0.document(request, $1.reference, $2, $1.entry.metadata) }
    case .tile:
      return forDownload(reference) { handler in
        handler.found(reference, problem: false) { reference, archive in
          handler.saved(
            handler.tile(request, of: archive), reference, part: handler.part(request, of: archive),
            ending: request.format?.fileExtension ?? "")
        }
      }
    }
  }

  /// Returns the requested region in pixels of the image, as IIIF writes it; empty for the whole.
  private func part(_ request: TileRequest, of archive: TileArchive) -> String {
    guard case .picture(let picture) = request.place(in: archive.pyramid, pictures.options.limits) else {
      return ""
    }
    let (region, whole) = (picture.region, archive.pyramid.imageSize)
    guard region.width != whole.width || region.height != whole.height else { return "" }
    return "\(region.x),\(region.y),\(region.width),\(region.height)"
  }

  /// Whether the image exists, even if it is damaged.
  ///
  /// - Parameter whenAway: the result if that is unknown at present.
  private func isThere(_ reference: ImageReference, whenAway: Bool) -> Bool {
    guard let place = place(reference) else { return false }
    do throws(StorageError) { return try place.library.archive(place.id) != nil } catch {
      return error.isTemporary ? whenAway : true
    }
  }

  private func redirect(_ request: TileRequest, _ reference: ImageReference) -> Response {
    let location = request.location(ofID: PercentEncoding.encode(reference.text), base: absoluteBase)
    return Response(303, [("Location", location), Response.anyOrigin], .bytes([]))
  }

  private func document(
    _ wanted: TileRequest, _ reference: ImageReference, _ archive: TileArchive, _ metadata: ImageMetadata
  ) -> Response {
    let document = wanted.document(
      of: DescribedImage(
        id: reference.text, base: absoluteBase, archive: archive, metadata: metadata,
        limits: pictures.options.limits))
    return negotiated(document.bytes, document.forms)
  }

  private func tile(_ wanted: TileRequest, of archive: TileArchive) -> Reply {
    let place = wanted.place(in: archive.pyramid, pictures.options.limits)
    if case .notFound(let refusal) = place { return .text(refusal.status, refusal.reason) }
    if case .stored(let address) = place, !archive.pyramid.contains(address) {
      return .text(404, "the pyramid has no such tile")
    }
    guard let format = wanted.format else {
      let endings = PictureFormat.allCases.map(\.fileExtension).joined(separator: ", ")
      return .text(404, "tiles are available as \(endings)")
    }
    let answer: Reply
    switch place {
    case .notFound(let refusal): return .text(refusal.status, refusal.reason)
    case .stored(let address): answer = stored(address, as: format, archive)
    case .crop(let rectangle, let level, let size):
      answer = crop(rectangle, level: level, paddedTo: size, as: format, archive)
    case .picture(let picture): answer = rendered(picture, archive)
    }
    let link = path.withRawPath { path in
      wanted.link(path, to: place, in: archive.pyramid, pictures.options.limits)?.text(base: absoluteBase)
    }
    guard let link else { return answer }
    return answer.map { response in
      var response = response
      if response.status == 200 { response["Link"] = link }
      return response
    }
  }

  /// Replies with a tile of the pyramid, without transcoding if it is stored in the format.
  private func stored(_ address: TileAddress, as format: PictureFormat, _ archive: TileArchive) -> Reply {
    guard format == PictureFormat(archive.format),
      let number = archive.tileIndex(level: address.level, column: address.column, row: address.row)
    else { return transcoded(address, format, archive) }
    func response(_ version: UInt64, _ body: Response.Body) -> Response {
      let tag = TileETag(generation: archive.generation, tile: number, version: version)
      return Response(
        200,
        [
          ("Content-Type", archive.format.mediaType), ("ETag", EntityTag(tag).text),
          ("Cache-Control", lifetime(of: archive)), Response.anyOrigin,
        ], body)
    }
    // If the client already has the tile, it is not fetched.
    if let pending = archive.pendingTile(number), let version = archive.version(ofTile: number) {
      return waiting(for: pending, head: response(version, .omitted)) {
        $0.stored(address, as: format, archive)
      }
    }
    switch archive.stored(number) {
    case .here(let bytes, let version): return .response(response(version, .bytes(Array(bytes))))
    case .notFound: return transcoded(address, format, archive)
    case .pending(let tile):
      let head = archive.version(ofTile: number).map { response($0, .omitted) }
      return waiting(for: tile, head: head) { $0.stored(address, as: format, archive) }
    case .unreachable: return .response(unavailable)
    case .unreadable:
      // The pyramid has the tile but it is unreadable: an error, never an empty tile.
      reportDamage(address, archive)
      return .text(500, "the tile cannot be read from its archive")
    }
  }

  private func transcoded(
    _ address: TileAddress, _ format: PictureFormat, _ archive: TileArchive
  ) -> Reply {
    rendering(
      "tile \(address.level)/\(address.column)_\(address.row).\(format.fileExtension)",
      .tile(address, format), archive,
      failure: .text(500, "the tile cannot be read from its archive"))
  }

  private func crop(
    _ rectangle: PixelRect, level: Int, paddedTo size: PixelSize, as format: PictureFormat,
    _ archive: TileArchive
  ) -> Reply {
    rendering(
      "cut \(level)/\(rectangle.x),\(rectangle.y),\(rectangle.width),\(rectangle.height)/"
        + "\(size.width),\(size.height).\(format.fileExtension)",
      .crop(rectangle, level: level, paddedTo: size, format), archive,
      failure: .text(500, "the tile cannot be read from its archive"))
  }

  private func rendered(_ picture: Picture, _ archive: TileArchive) -> Reply {
    let canonical = picture.iiif(of: archive.pyramid.imageSize, .two, pictures.options.limits)
    let quality = picture.encodingQuality.map { ",q\($0)" } ?? ""
    return rendering(
      "\(canonical)=\(picture.size.height)\(quality)", .picture(picture), archive,
      failure: .text(500, "the picture cannot be made from the image's tiles"))
  }
}

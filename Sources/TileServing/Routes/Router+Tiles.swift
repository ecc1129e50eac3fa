import HTTPMessages
import TileGeometry
import TileProtocols
import TileRendering
import TileStorage

/// Whatever the tile protocols have that is no stored tile in its own spelling.
extension Router {
  func tiles(_ request: TileRequest) -> Answer {
    // An id may hold slashes, and then look like more than an id.
    if let whole = request.wholeID.map(path.text),
      ((try? place(whole)?.library.archive(place(whole)?.id ?? "")) ?? nil) != nil
    {
      return .now(redirect(request, whole))
    }
    let id = path.text(request.id)
    switch request.subject {
    case .nothing(let reason): return .text(404, reason)
    case .redirect: return found(id, problem: false) { _ in .now(redirect(request, id)) }
    case .document(hasWords: false):
      return found(id, problem: false) { .now(document(request, id, $0, $0.metadata)) }
    case .document(hasWords: true):
      return known(id, problem: false) { document(request, id, $1, $0.metadata) }
    case .tile: return found(id, problem: false) { tile(request, of: $0) }
    }
  }

  private func redirect(_ request: TileRequest, _ id: String) -> Response {
    let location = request.location(ofID: PercentEncoding.encode(id), base: absoluteBase)
    return Response(303, [("Location", location), Response.anyOrigin], .bytes([]))
  }

  private func document(
    _ wanted: TileRequest, _ id: String, _ archive: SZIArchive, _ metadata: ImageMetadata
  ) -> Response {
    let document = wanted.document(
      of: DescribedImage(
        id: id, base: absoluteBase, archive: archive, metadata: metadata, limits: site.rendering.limits))
    var form = document.forms[0]
    if document.forms.count > 1 {
      let name = MediaRanges(request.header("Accept") ?? "*/*").best(of: document.forms.map(\.name))
      form = document.forms.first { $0.name == name } ?? form
    }
    var response = Response.json(document.bytes, form.mediaType)
    if document.forms.count > 1 { response.vary(by: "Accept") }
    if let link = form.link { response.headers.append(("Link", link)) }
    return response
  }

  private func tile(_ wanted: TileRequest, of archive: SZIArchive) -> Answer {
    let place = wanted.place(in: archive.pyramid, site.rendering.limits)
    if case .nowhere(let refusal) = place { return .text(refusal.status, refusal.reason) }
    if case .stored(let address) = place, !archive.pyramid.contains(address) {
      return .text(404, "the pyramid has no such tile")
    }
    guard let format = wanted.format else {
      let endings = PictureFormat.allCases.map(\.fileExtension).joined(separator: ", ")
      return .text(404, "tiles can be had as \(endings)")
    }
    let answer: Answer
    switch place {
    case .nowhere(let refusal): return .text(refusal.status, refusal.reason)
    case .stored(let address): answer = stored(address, as: format, archive)
    case .cut(let rectangle, let level, let size):
      answer = cut(rectangle, level: level, paddedTo: size, as: format, archive)
    case .picture(let picture): answer = rendered(picture, archive)
    }
    let link = path.bytes.withUnsafeBytes { bytes in
      wanted.link(RawPath(bytes), to: place, in: archive.pyramid, site.rendering.limits)?
        .text(base: absoluteBase)
    }
    guard let link else { return answer }
    return answer.map { response in
      var response = response
      if response.status == 200 { response["Link"] = link }
      return response
    }
  }

  /// A tile of the pyramid; its own bytes where it is stored in the format.
  private func stored(_ address: TileAddress, as format: PictureFormat, _ archive: SZIArchive) -> Answer {
    guard format == PictureFormat(archive.format),
      let number = archive.tileIndex(level: address.level, column: address.column, row: address.row)
    else { return transcoded(address, format, archive) }
    guard let (bytes, stamp) = archive.stampedTile(number) else {
      if archive.canMake(address) { return transcoded(address, format, archive) }
      // In the pyramid, but not readable: that is a fault, never an empty tile.
      return .now(unreadableTile(address, archive))
    }
    let tag = TileTag(generation: archive.generation, tile: number, stamp: stamp)
    return .now(
      Response(
        200,
        [
          ("Content-Type", archive.format.mediaType), ("ETag", EntityTag(tag).text),
          ("Cache-Control", lifetime(of: archive)), Response.anyOrigin,
        ], .bytes(Array(bytes))))
  }

  func unreadableTile(_ address: TileAddress, _ archive: SZIArchive) -> Response {
    site.library.tellFault(
      in: archive, "tile \(address.level)/\(address.column)_\(address.row) is not where the directory has it")
    return archive.wasHeldUp ? .heldUp : .text(500, "the tile cannot be read from its archive")
  }

  private func transcoded(
    _ address: TileAddress, _ format: PictureFormat, _ archive: SZIArchive
  ) -> Answer {
    rendering(
      "tile \(address.level)/\(address.column)_\(address.row).\(format.fileExtension)",
      .tile(address, format), archive,
      failure: .text(500, "the tile cannot be read from its archive"))
  }

  private func cut(
    _ rectangle: PixelRect, level: Int, paddedTo size: PixelSize, as format: PictureFormat,
    _ archive: SZIArchive
  ) -> Answer {
    rendering(
      "cut \(level)/\(rectangle.x),\(rectangle.y),\(rectangle.width),\(rectangle.height)/"
        + "\(size.width),\(size.height).\(format.fileExtension)",
      .cut(rectangle, level: level, paddedTo: size, format), archive,
      failure: .text(500, "the tile cannot be read from its archive"))
  }

  private func rendered(_ picture: Picture, _ archive: SZIArchive) -> Answer {
    let canonical = picture.iiif(of: archive.pyramid.imageSize, .two, site.rendering.limits)
    return rendering(
      "\(canonical)=\(picture.size.height)", .picture(picture), archive,
      failure: .text(500, "the picture cannot be made from the image's tiles"))
  }
}

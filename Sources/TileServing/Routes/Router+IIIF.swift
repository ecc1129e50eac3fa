import HTTPMessages
import TileGeometry
import TileProtocols
import TileRendering
import TileStorage

/// IIIF Image API 3.0 and 2.1.
extension Router {
  /// - Parameter segments: what follows `/iiif/{version}/`.
  func iiif(_ version: IIIFVersion, _ segments: [String]) -> Answer {
    var segments = segments
    if segments.last == "info.json", segments.count > 1 {
      let id = segments.dropLast().joined(separator: "/")
      return found(id, problem: false) { .now(information(version, id, $0)) }
    }
    let isBase = segments.last == "" && segments.count > 1
    if isBase { segments.removeLast() }
    let whole = segments.joined(separator: "/")
    // The base URI, of an image whose id may itself hold slashes.
    if isBase || segments.count < 5
      || ((try? place(whole)?.library.archive(place(whole)?.id ?? "")) ?? nil) != nil
    {
      return found(whole, problem: false) { _ in
        .now(
          Response(
            303, [("Location", "\(imageBase(version, whole))/info.json"), Response.anyOrigin], .bytes([])))
      }
    }
    let id = segments.dropLast(4).joined(separator: "/")
    return found(id, problem: false) { archive in
      do throws(IIIFRefusal) {
        return try image(IIIFImageRequest(version, segments.suffix(4)), id, archive)
      } catch { return .text(error.status, error.reason) }
    }
  }

  private func imageBase(_ version: IIIFVersion, _ id: String) -> String {
    "\(absoluteBase)/iiif/\(version.rawValue)/\(PercentEncoding.encode(id))"
  }

  private func information(_ version: IIIFVersion, _ id: String, _ archive: SZIArchive) -> Response {
    let information = IIIFInformation(
      version: version, id: imageBase(version, id), archive: archive, limits: site.rendering.limits)
    var response = Response.json(information.json)
    let (linked, plain) = ("application/ld+json", "application/json")
    let offered = version == .three ? [linked, plain] : [plain, linked]
    let chosen = MediaRanges(request.header("Accept") ?? "*/*").best(of: offered)
    response["Content-Type"] =
      version == .three && chosen == linked ? "\(linked);profile=\"\(version.context)\"" : chosen
    response.vary(by: "Accept")
    var links = "<\(version.profile)>;rel=\"profile\""
    // What makes linked data of the plain one (2.1, section 5.1).
    if version == .two, chosen == plain {
      links += ",<\(version.context)>;rel=\"http://www.w3.org/ns/json-ld#context\";type=\"\(linked)\""
    }
    response.headers.append(("Link", links))
    return response
  }

  private func image(
    _ wanted: IIIFImageRequest, _ id: String, _ archive: SZIArchive
  ) throws(IIIFRefusal) -> Answer {
    let limits = site.rendering.limits
    let image = archive.pyramid.imageSize
    let picture = try wanted.picture(of: image, limits)
    let canonical = IIIFImageRequest.canonical(picture, of: image, wanted.version, limits)
    let link =
      "<\(imageBase(wanted.version, id))/\(canonical)>;rel=\"canonical\","
      + "<\(wanted.version.profile)>;rel=\"profile\""
    return (stored(picture, archive).map(Answer.now) ?? rendered(picture, archive)).map { response in
      var response = response
      if response.status == 200 { response["Link"] = link }
      return response
    }
  }

  /// The stored tile that is this picture, if there is one.
  private func stored(_ picture: Picture, _ archive: SZIArchive) -> Response? {
    let region = picture.region
    guard picture.rotation == 0, !picture.isMirrored, picture.quality == .color,
      picture.format.fileExtension == archive.format.fileExtension,
      let address = IIIFGrid.tile(
        archive.pyramid, x: region.x, y: region.y, width: region.width, height: region.height,
        sizeWidth: picture.size.width, sizeHeight: picture.size.height),
      let number = archive.tileIndex(level: address.level, column: address.column, row: address.row)
    else { return nil }
    guard let (bytes, stamp) = archive.stampedTile(number) else {
      if archive.canMake(address) { return nil }
      return unreadableTile(address, archive)
    }
    return Response(
      200,
      [
        ("Content-Type", archive.format.mediaType),
        ("ETag", EntityTag(TileTag(generation: archive.generation, tile: number, stamp: stamp)).text),
        ("Cache-Control", lifetime(of: archive)), Response.anyOrigin,
      ], .bytes(Array(bytes)))
  }

  private func rendered(_ picture: Picture, _ archive: SZIArchive) -> Answer {
    let canonical = IIIFImageRequest.canonical(
      picture, of: archive.pyramid.imageSize, .two, site.rendering.limits)
    return rendering(
      "\(canonical)=\(picture.size.height)", .picture(picture), archive,
      failure: .text(500, "the picture cannot be made from the image's tiles"))
  }
}

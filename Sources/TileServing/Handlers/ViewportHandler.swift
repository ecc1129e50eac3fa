import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols
import ZigguratTileRendering

/// Questions about a viewport: its tiles as JSON (`viewport`), with their bytes (`viewport.tiles`), and drawn
/// (`viewport.jpg`).
struct ViewportHandler: DescribingHandler, PictureHandler {
  var context: RequestContext
  let images: ImageAccess
  let pictures: PictureAccess
  let originals: OriginalAccess
  /// Tiles that are files of their own, in responses that are not sent.
  let mappedTiles: MemoryQuota

  func coverage(_ reference: ImageReference?) -> Reply {
    found(reference, problem: true) { reference, archive in
      viewport(reference, archive) { _, answer in .response(.json(answer.json)) }
    }
  }

  func tiles(_ reference: ImageReference?) -> Reply {
    found(reference, problem: true) { reference, archive in
      viewport(reference, archive) { handler, answer in handler.viewportTiles(answer, archive) }
    }
  }

  /// - Parameter ending: the ending of the picture's format.
  func picture(_ reference: ImageReference?, _ ending: String) -> Reply {
    forDownload(reference) { handler in
      handler.found(reference, problem: true) { reference, archive in
        handler.saved(handler.viewportPicture(ending, archive), reference, part: "view", ending: ending)
      }
    }
  }

  private func viewport(
    _ reference: ImageReference, _ archive: TileArchive,
    _ reply: @escaping @Sendable (Self, ViewportResponse) -> Reply
  ) -> Reply {
    let query = decodedQuery
    let answer: ViewportResponse
    do throws(ViewportQuery.ValidationError) {
      answer = try ViewportResponse(
        ViewportQuery(query.parameters), id: reference.text, archive: archive, base: base)
    } catch {
      return .response(query.problem(error.errors) ?? .problem("Bad parameter", error.errors))
    }
    if let problem = query.problem() { return .response(problem) }
    guard answer.query.include.contains(.description) else { return reply(self, answer) }
    return describing(reference) { handler in
      let description = handler.description(of: reference)
      guard description.status == 200, case .bytes(let json) = description.body else {
        return .response(description)
      }
      var answer = answer
      answer.description = json
      let isForAll = description["Cache-Control"]?.hasPrefix("public") == true
      return isForAll ? reply(handler, answer) : reply(handler, answer).map(\.uncacheable)
    }
  }

  /// The viewport itself, `viewport.jpg`.
  private func viewportPicture(_ ending: String, _ archive: TileArchive) -> Reply {
    guard let format = PictureFormat(fileExtension: ending), [.jpg, .png, .webp].contains(format) else {
      return .problem(404, "Not found", "a viewport's picture is .jpg, .png or .webp")
    }
    let decoded = decodedQuery
    let query: ViewportQuery
    do throws(ViewportQuery.ValidationError) {
      query = try ViewportQuery(decoded.parameters.filter { $0.name != "download" })
    } catch { return .response(decoded.problem(error.errors) ?? .problem("Bad parameter", error.errors)) }
    if let problem = decoded.problem() { return .response(problem) }
    let ratio = query.devicePixelRatio
    let (width, height) = ((query.width * ratio).rounded(), (query.height * ratio).rounded())
    let side = Double(min(PictureLimits.side, PictureLimits.side(of: format)))
    let most = format.limit(pictures.options.pixels)
    guard width <= side, height <= side, width * height <= Double(most) else {
      let detail =
        "width, height and dpr ask for \(Int(width))×\(Int(height)) pixels; it takes at most \(most) in all and "
        + "\(Int(side)) along a side"
      return .problem(
        "Bad parameter", ["width", "height", "dpr"].map { InvalidInput(parameter: $0, detail) })
    }
    let (viewport, _) = query.viewport(on: archive.pyramid.imageSize)
    return rendering(
      "viewport \(viewport.width),\(viewport.height),\(viewport.scale),\(viewport.x),\(viewport.y),"
        + "\(viewport.rotation.degrees),\(viewport.rotation.isFlipped),\(ratio).\(ending)",
      .viewport(viewport, devicePixelRatio: ratio, format), archive,
      failure: .problem(500, "Unreadable", "the picture cannot be made from the image's tiles"))
  }
}

import TileGeometry
import TileStorage
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols
import ZigguratTileRendering

/// Answers that are rendered: their headers are known before their bytes are.
extension Router {
  /// - Parameters:
  ///   - name: what tells the picture from all others of the archive.
  ///   - failure: what is answered where it cannot be made.
  func rendering(
    _ name: String, _ task: RenderTask, _ archive: TileArchive, failure: Response
  ) -> Reply {
    let renderer = site.renderer
    return rendering(
      name, stamp: task.stamp(in: archive), cost: task.cost(in: archive), mediaType: task.format.mediaType,
      archive, failure: failure
    ) { (cancellation) throws(RenderError) in try renderer.render(task, of: archive, until: cancellation) }
  }

  /// - Parameter stamp: what its pixels depend on besides the archive's generation.
  func rendering(
    _ name: String, stamp: UInt64, cost: RenderCost, mediaType: String, _ archive: TileArchive,
    failure: Response, _ work: @escaping @Sendable (Cancellation) throws(RenderError) -> [UInt8]
  ) -> Reply {
    var key =
      "\(TileRenderer.revision)|\(String(archive.generation, radix: 16))|\(name)|\(site.rendering.quality)"
    if stamp != 0 { key += "|\(String(stamp, radix: 16))" }
    let library = site.library
    let job = RenderJob(
      key: key, cost: cost, failure: failure, mayBeKept: { !archive.isLocked },
      work: { (cancellation) throws(RenderError) in
        do throws(RenderError) { return try work(cancellation) } catch {
          if error.isFault { library.tellFault(in: archive, error.description) }
          throw error
        }
      })
    let head = Response(
      200,
      [
        ("Content-Type", mediaType),
        ("ETag", EntityTag(of: Array(key.utf8), generation: archive.generation).text),
        ("Cache-Control", lifetime(of: archive)), Response.anyOrigin,
      ], .omitted)
    return site.renders.reply(job, head, for: request.client)
  }

  /// The Cache-Control of an answer with the archive's pixels.
  func lifetime(of archive: TileArchive) -> String {
    site.cacheWords.with(cacheLifetime(of: archive)) { String(cString: $0) }
  }

  func cacheLifetime(of archive: TileArchive) -> CacheLifetime {
    CacheLifetime(archive.generation, asked: namedGeneration, mayChange: archive.hasStamps)
  }

  /// The viewport itself, `viewport.jpg`.
  func viewportPicture(_ ending: String, _ archive: TileArchive) -> Reply {
    guard let format = PictureFormat(fileExtension: ending), [.jpg, .png, .webp].contains(format) else {
      return .problem(404, "Not found", "a viewport's picture is .jpg, .png or .webp")
    }
    let decoded = decodedQuery
    let query: ViewportQuery
    do throws(ViewportQuery.Refusal) {
      query = try ViewportQuery(decoded.parameters.filter { $0.name != "download" })
    } catch { return .response(decoded.problem(error.errors) ?? .problem("Bad parameter", error.errors)) }
    if let problem = decoded.problem() { return .response(problem) }
    let ratio = query.devicePixelRatio
    let (width, height) = ((query.width * ratio).rounded(), (query.height * ratio).rounded())
    let side = Double(min(PictureLimits.side, PictureLimits.side(of: format)))
    let most = format.limit(site.rendering.pixels)
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

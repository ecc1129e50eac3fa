import TileGeometry
import TileStorage
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols
import ZigguratTileRendering

/// The dependencies of handlers that render pictures.
final class PictureAccess: Sendable {
  let queue: RenderQueue
  let renderer: RenderWorkers
  let options: RenderOptions

  /// - Parameter loops: the CPU time of the event loops, which take precedence.
  init(_ options: RenderOptions, _ loops: EventLoopCPUTime) {
    self.options = options
    var tiles = TileRenderer.Options()
    tiles.quality = options.quality
    tiles.cacheBytes = options.cacheBytes / 2
    // As many processes as usually work at once, including the lane of quick pictures. The queue times out first.
    let processes = RenderWorkers(
      options: tiles, threads: options.threads + 1, timeout: Int(options.timeout.rounded(.up)) + 5)
    renderer = processes
    let seconds: @Sendable () -> Double = { processes.seconds }
    queue = RenderQueue(options, loops, secondsElsewhere: processes.isElsewhere ? seconds : nil) {
      processes.sweep()
    }
  }

  /// Drops all cached pictures.
  func forget() {
    queue.forget()
    renderer.forget()
  }
}

/// A handler that may render its responses. A response's header fields are known before its body.
protocol PictureHandler: LibraryHandler {
  var pictures: PictureAccess { get }
}

extension PictureHandler {
  /// - Parameters:
  ///   - name: a key that distinguishes the pictures of the archive.
  ///   - failure: the response if rendering fails.
  func rendering(
    _ name: String, _ task: RenderTask, _ archive: TileArchive, failure: Response
  ) -> Reply {
    let renderer = pictures.renderer
    return rendering(
      name, version: task.version(in: archive), cost: task.cost(in: archive),
      mediaType: task.format.mediaType,
      archive, failure: failure
    ) { (cancellation) throws(RenderError) in try renderer.render(task, of: archive, until: cancellation) }
  }

  /// - Parameter version: the version on which the pixels depend besides the archive's generation.
  func rendering(
    _ name: String, version: UInt64, cost: RenderCost, mediaType: String, _ archive: TileArchive,
    failure: Response, _ work: @escaping @Sendable (Cancellation) throws(RenderError) -> [UInt8]
  ) -> Reply {
    var key =
      "\(TileRenderer.revision)|\(String(archive.generation, radix: 16))|\(name)|\(pictures.options.quality)"
    if version != 0 { key += "|\(String(version, radix: 16))" }
    let library = images.library
    let job = RenderJob(
      key: key, cost: cost, failure: failure, mayBeKept: { !archive.isLocked },
      work: { (cancellation) throws(RenderError) in
        do throws(RenderError) { return try work(cancellation) } catch {
          if error.isDamage { library.reportDamage(in: archive, error.description) }
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
    return pictures.queue.reply(job, head, for: request.client)
  }

  func reportDamage(_ address: TileAddress, _ archive: TileArchive) {
    library.reportDamage(
      in: archive, "tile \(address.level)/\(address.column)_\(address.row) is not where the directory has it")
  }
}

import Synchronization
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratSandbox
import ZigguratUploading

/// Handles `/metrics` for Prometheus, and the health check `/healthz`.
struct MonitoringHandler: LibraryHandler {
  var context: RequestContext
  let images: ImageAccess
  let access: TileServerConfiguration
  let metrics: Metrics
  let disk: DiskSpace
  let pictures: PictureAccess
  let mappedTiles: MemoryQuota
  let uploads: Uploads?
  let version: String

  var health: Response {
    if library.isAway {
      var response = Response.text(503, "degraded: the library's folder cannot be reached")
      response["Retry-After"] = "1"
      return response
    }
    // Images in the catalog are still served.
    if !library.unmountedFolders.isEmpty {
      return .text(200, "degraded: a folder of the library cannot be reached")
    }
    if library.count > 0, library.readableCount == 0 {
      return .text(200, "degraded: no archive of the library can be read")
    }
    if !library.unreadableFolders.isEmpty {
      return .text(200, "degraded: a folder of the library cannot be read")
    }
    if access.spaces?.isReadable == false {
      return .text(200, "degraded: the private spaces cannot be read")
    }
    if let shortage = disk.shortage { return .text(200, "degraded: \(shortage.summary)") }
    if !library.catalog.isReachable { return .text(200, "degraded: the catalog cannot be reached") }
    return .text(200, library.sourceOutage.map { "degraded: \($0.summary)" } ?? "ok")
  }

  /// `/metrics`, which may be for the listener for monitors alone.
  var metricsOrNothing: Response {
    access.hidesMetrics && !request.isMonitor ? .text(404, "there is nothing at this path") : figures()
  }

  /// `/metrics`
  func figures() -> Response {
    let renders = pictures.queue.counts
    let processes = ProcessLauncher.running?.counts ?? ProcessLauncher.Counts()
    var figures: [Figure] =
      [
        ("connections", "Open connections.", metrics.connections.load(ordering: .relaxed), false),
        ("images", "Images in the library that can be read.", library.readableCount, false),
        ("open_archives", "Archives that are open.", library.open.count, false),
        (
          "unreadable_archives", "Archives that cannot be opened and are not listed.",
          library.unreadableArchiveCount, false
        ),
        (
          "archive_errors_total", "Archives that could not be read, each version once.",
          library.archiveErrors.count, true
        ),
        ("render_queue_length", "Pictures that wait to be rendered.", renders.waiting, false),
        ("renders_total", "Pictures that were rendered.", renders.rendered, true),
        (
          "renders_shared_total", "Requests that shared the render of an equal one in flight.",
          renders.shared,
          true
        ),
        (
          "renders_refused_total",
          "Requests that found no place in the queue, or lost it to a client with fewer.", renders.refused,
          true
        ),
        (
          "renders_cancelled_total", "Renders cancelled because their clients had left.", renders.abandoned,
          true
        ),
        ("renders_timeout_total", "Requests whose picture was not ready in time.", renders.late, true),
        ("render_cache_hits_total", "Rendered answers from the cache.", renders.cacheHits, true),
        ("render_cache_bytes", "Bytes of pictures in the cache.", renders.cachedBytes, false),
        (
          "render_unsent_bytes", "Bytes of finished pictures that are being sent, or wait for it.",
          renders.unsentBytes, false
        ),
        ("sandbox_processes_total", "Sandboxed processes that were started.", processes.begun, true),
        ("sandbox_processes_crashed_total", "Sandboxed processes that crashed.", processes.crashed, true),
        (
          "sandbox_processes_over_memory_total", "Sandboxed processes that exceeded their memory limit.",
          processes.overMemory, true
        ),
        (
          "sandbox_processes_over_time_total", "Sandboxed processes that exceeded their time limit.",
          processes.overTime, true
        ),
        (
          "sandbox_processes_confined", "1 if the kernel has Landlock and seccomp, which confine them.",
          ProcessLauncher.running?.lack == nil ? 1 : 0, false
        ),
        (
          "unsent_mapped_tiles", "Tiles that are files of their own, in answers that are being sent.",
          mappedTiles.total, false
        ),
        ("tile_cache_bytes", "Bytes of decoded tiles in the cache.", pictures.renderer.cachedBytes, false),
        (
          "logins_refused_total", "Logins refused: wrong passwords and tokens, and too many attempts.",
          metrics.refusedLogins.load(ordering: .relaxed), true
        ),
        (
          "descriptor_shortages_total", "Times that no file descriptor was free.",
          DescriptorRelief.shared.shortages, true
        ),
        (
          "access_log_lost_lines_total", "Lines of the access log that could not be written.",
          metrics.lostLogLines.load(ordering: .relaxed), true
        ),
        (
          "audit_log_lost_lines_total", "Lines of the audit log that could not be written.",
          access.audit?.lostLines ?? 0, true
        ),
      ]
    figures += freeSpace + uploadFigures
    figures += library.figures.map { ($0.name, $0.help, $0.value, $0.isTotal) }
    let text = metrics.text(figures, version: version)
    return Response(
      200,
      [("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("Cache-Control", "no-store")],
      .bytes(Array(text.utf8)))
  }

  private typealias Figure = (name: String, help: String, value: Int, isCounter: Bool)

  private var freeSpace: [Figure] {
    let figures: [Figure] = [
      (
        "library_free_bytes", "Bytes free in the file system of the library.",
        metrics.libraryFree.load(ordering: .relaxed), false
      ),
      (
        "uploads_free_bytes", "Bytes free in the file system of the folder of uploads.",
        metrics.uploadsFree.load(ordering: .relaxed), false
      ),
    ]
    return figures.filter { $0.value >= 0 }
  }

  private var uploadFigures: [Figure] {
    guard let uploads else { return [] }
    let unfinished = uploads.unfinished
    return [
      ("uploads_receiving", "Uploads that are not complete.", unfinished.receiving, false),
      ("uploads_waiting", "Uploads that are complete and wait to be tiled.", unfinished.waiting, false),
      (
        "uploads_failed_total", "Uploads that failed, without those that clients cancelled.",
        uploads.failureCount, true
      ),
    ]
  }
}

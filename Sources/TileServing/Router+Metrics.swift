import Synchronization

/// What a monitor asks for.
extension Router {
  /// `/metrics`
  func metrics() -> Response {
    let renders = site.renders.counts
    let text = site.metrics.text([
      ("connections", "Open connections.", site.metrics.connections.load(ordering: .relaxed), false),
      ("images", "Images in the library.", site.library.count, false),
      ("open_archives", "Archives that are open.", site.library.open.count, false),
      ("render_queue_length", "Pictures that wait to be rendered.", renders.waiting, false),
      ("renders_total", "Pictures that were rendered.", renders.rendered, true),
      (
        "renders_shared_total", "Requests that shared the render of an equal one in flight.", renders.shared,
        true
      ),
      ("renders_refused_total", "Requests that the full queue refused.", renders.refused, true),
      ("renders_abandoned_total", "Renders whose clients had gone.", renders.abandoned, true),
      ("render_cache_hits_total", "Rendered answers from the cache.", renders.cacheHits, true),
      ("render_cache_bytes", "Bytes of pictures in the cache.", renders.cachedBytes, false),
      ("tile_cache_bytes", "Bytes of decoded tiles in the cache.", site.renderer.cachedBytes, false),
    ])
    return Response(
      200,
      [("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("Cache-Control", "no-store")],
      .bytes(Array(text.utf8)))
  }
}

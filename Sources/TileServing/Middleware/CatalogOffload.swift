import ZigguratHTTPMessages

/// Runs queries of the catalog on a thread that may block; an event loop must not.
struct CatalogOffload: Middleware {
  let queue: BlockingQueue

  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    guard request.request.isRead, request.route?.isOfCatalog == true else { return next(request) }
    let detached = request.detached
    return queue.reply(for: request.request.client) { next(detached) }
  }
}

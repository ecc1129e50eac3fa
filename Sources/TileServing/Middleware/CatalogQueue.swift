import ZigguratHTTPMessages

/// Has what only the catalog knows answered by a thread that may wait: the database may take its time, and the event loop
/// has none.
struct CatalogQueue: Middleware {
  let queue: AnswerQueue

  func respond(to request: RoutedRequest, next: @escaping Next) -> Answer {
    guard !request.mayWait, request.request.isRead, request.route?.isOfCatalog == true else {
      return next(request)
    }
    let detached = request.detached
    return .later(queue.later(for: request.request.client) { next(detached) })
  }
}

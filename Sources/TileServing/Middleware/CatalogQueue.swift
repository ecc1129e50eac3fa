import ZigguratHTTPMessages

/// Runs queries of the catalog on a thread that may wait for the database; an event loop must not.
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

import ZigguratHTTPMessages

/// Adds the header `Server-Timing` (W3C Server Timing): how long an answer took in all, and how long it waited for a render's
/// turn (`queue`), for the render, and for tiles from an object store (`fetch`). Stored tiles that are in memory are answered
/// without it.
struct ServerTiming: Middleware {
  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    let start = ContinuousClock.now
    return next(request).map { response in
      var response = response
      let timings = response.timings + [ResponseTiming("total", .now - start)]
      response["Server-Timing"] = timings.map(\.text).joined(separator: ", ")
      return response
    }
  }
}

import ZigguratHTTPMessages

/// Adds the header `Server-Timing` (W3C Server Timing). It contains the total time and the times in the render
/// queue (`queue`), for rendering (`render`), and for tiles from an object store (`fetch`). Responses with stored
/// tiles in memory do not have it.
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

import ZigguratHTTPMessages

/// Compresses responses to reads if the client accepts a supported coding.
struct Compression: Middleware {
  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    let answer = next(request)
    guard request.readsResource else { return answer }
    let codings = request.request.header("Accept-Encoding")
    return answer.map { $0.compressed(for: codings) }
  }
}

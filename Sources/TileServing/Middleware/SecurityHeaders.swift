import ZigguratHTTPMessages

/// Adds the headers of `Response.caution` to every response that does not set them itself.
struct SecurityHeaders: Middleware {
  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    next(request).map { $0.withCaution }
  }
}

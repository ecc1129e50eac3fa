import ZigguratHTTPMessages

/// Adds the headers of `Response.caution` to every response that does not set them itself. A stored tile that
/// `TileServer.tile` finds has none: a browser shows it as its media type or not at all.
struct SecurityHeaders: Middleware {
  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    next(request).map { $0.withSecurityHeaders }
  }
}

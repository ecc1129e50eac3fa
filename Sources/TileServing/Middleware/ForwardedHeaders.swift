import ZigguratHTTPMessages

/// Adds `Vary` for the headers in which a proxy states the public address (`--base-url auto`).
struct ForwardedHeaders: Middleware {
  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    next(request).map { response in
      var response = response
      for name in ForwardedBase.headers { response.vary(by: name) }
      return response
    }
  }
}

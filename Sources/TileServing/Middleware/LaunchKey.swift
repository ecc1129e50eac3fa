import ZigguratHTTPMessages

/// Requires the key that the server printed when it started, and refuses all changes.
struct LaunchKey: Middleware {
  let launchKey: LaunchKeyAuth
  /// The prefix of every URL.
  let base: String

  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    (admits(request) ? next(request) : .response(launchKey.answer(request.request, base: base))).map(
      \.withNoStore)
  }

  func refusal(of request: RoutedRequest) -> Response? {
    (admits(request) ? .methodNotAllowed : launchKey.answer(request.request, base: base)).withNoStore
  }

  private func admits(_ request: RoutedRequest) -> Bool {
    launchKey.admits(cookies: request.request.header("Cookie"))
  }
}

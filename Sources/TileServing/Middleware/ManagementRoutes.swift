import ZigguratHTTPMessages

/// Limits the listener for monitors to `/metrics` and `/healthz`.
struct ManagementRoutes: Middleware {
  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    guard request.request.isMonitor, request.route?.isForMonitors != true else { return next(request) }
    return .text(404, "here are /metrics and /healthz alone")
  }

  func refusal(of request: RoutedRequest) -> Response? { request.request.isMonitor ? .methodNotAllowed : nil }
}

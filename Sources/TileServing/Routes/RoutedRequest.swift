package import ZigguratHTTPMessages

/// A request and its route, parsed once.
package struct RoutedRequest: Sendable {
  package var request: Request
  let path: RequestedPath
  /// The principal, set by `Authentication`; `nil` for requests whose response does not depend on it.
  var principal: Principal?

  package init(_ request: Request) {
    self.request = request
    path = RequestedPath(request)
  }

  package var method: String { request.method }

  /// `nil` if the path is malformed.
  var route: Route? { path.route }

  var isOfSession: Bool { if case .api(.session)? = route { true } else { false } }

  /// Whether the request reads a resource that depends on the principal. The session's handler identifies the principal
  /// itself.
  var readsResource: Bool { request.isRead && !isOfSession }

  /// A copy of the request that any thread may use.
  var detached: RoutedRequest {
    var request = self
    request.request = self.request.detached
    return request
  }
}

package import ZigguratHTTPMessages

/// A request and what its path asks for, parsed once.
package struct RoutedRequest: Sendable {
  package var request: Request
  let path: AskedPath
  /// The visitor, from `Principals` on; nil for requests whose answer does not depend on the visitor.
  var visitor: Visitor?

  package init(_ request: Request) {
    self.request = request
    path = AskedPath(request)
  }

  package var method: String { request.method }

  /// `nil` if the path is malformed.
  var route: Route? { path.route }

  var isOfSession: Bool { if case .api(.session)? = route { true } else { false } }

  /// Whether it reads a resource that depends on the visitor; the session's handler finds the visitor itself.
  var readsResource: Bool { request.isRead && !isOfSession }

  /// The same for any thread.
  var detached: RoutedRequest {
    var request = self
    request.request = self.request.detached
    return request
  }
}

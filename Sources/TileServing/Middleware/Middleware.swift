import ZigguratHTTPMessages

/// A rule for requests of many kinds. It responds itself, or passes the request to the rest of the list and changes
/// the response.
protocol Middleware: Sendable {
  typealias Next = @Sendable (RoutedRequest) -> Reply

  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply

  /// Returns the refusal of a request before its body is read; `nil` if the rule admits it.
  func refusal(of request: RoutedRequest) -> Response?
}

extension Middleware {
  func refusal(of request: RoutedRequest) -> Response? { nil }
}

/// A list of middleware, the outermost first. That one sees the request first and the response last.
struct MiddlewareList: Sendable {
  private let middleware: [any Middleware]

  init(_ middleware: [any Middleware]) { self.middleware = middleware }

  /// - Parameter handler: responds if no middleware does.
  func respond(to request: RoutedRequest, _ handler: @escaping Middleware.Next) -> Reply {
    respond(to: request, from: 0, handler)
  }

  private func respond(
    to request: RoutedRequest, from index: Int, _ handler: @escaping Middleware.Next
  ) -> Reply {
    guard index < middleware.count else { return handler(request) }
    return middleware[index].respond(to: request) { respond(to: $0, from: index + 1, handler) }
  }

  /// Returns the first refusal of a request before its body is read.
  func refusal(of request: RoutedRequest) -> Response? {
    for each in middleware {
      if let refusal = each.refusal(of: request) { return refusal }
    }
    return nil
  }
}

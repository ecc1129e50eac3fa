import ZigguratHTTPMessages

/// A rule that holds for requests of many kinds. It answers a request itself, or has the rest of the list answer it and
/// changes that answer.
protocol Middleware: Sendable {
  typealias Next = @Sendable (RoutedRequest) -> Reply

  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply

  /// Returns the refusal of a request before its body is read; nil if the rule admits it.
  func refusal(of request: RoutedRequest) -> Response?
}

extension Middleware {
  func refusal(of request: RoutedRequest) -> Response? { nil }
}

/// Middleware in order, the outermost first: it sees the request before all others and the answer after them.
struct MiddlewareList: Sendable {
  private let middleware: [any Middleware]

  init(_ middleware: [any Middleware]) { self.middleware = middleware }

  /// - Parameter handler: gives the answer where no middleware does.
  func respond(to request: RoutedRequest, _ handler: @escaping Middleware.Next) -> Reply {
    respond(to: request, from: 0, handler)
  }

  private func respond(
    to request: RoutedRequest, from index: Int, _ handler: @escaping Middleware.Next
  ) -> Reply {
    guard index < middleware.count else { return handler(request) }
    return middleware[index].respond(to: request) { respond(to: $0, from: index + 1, handler) }
  }

  /// The first refusal of a request before its body is read.
  func refusal(of request: RoutedRequest) -> Response? {
    for each in middleware {
      if let refusal = each.refusal(of: request) { return refusal }
    }
    return nil
  }
}

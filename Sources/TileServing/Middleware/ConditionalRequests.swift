import ZigguratHTTPMessages

/// Holds answers to reads against their conditions and ranges (RFC 9110, sections 13 and 14).
struct ConditionalRequests: Middleware {
  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    let answer = next(request)
    return request.request.isRead ? answer.answering(request.request.conditions) : answer
  }
}

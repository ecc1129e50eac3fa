import ZigguratHTTPMessages

/// Evaluates the preconditions (ETag, If-None-Match) and ranges of reads (RFC 9110, sections 13 and 14).
struct ConditionalRequests: Middleware {
  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    let answer = next(request)
    return request.request.isRead ? answer.answering(request.request.conditions) : answer
  }
}

import ZigguratHTTPMessages

/// Restricts caching of responses to reads. With private spaces, a response varies by cookie. For a principal with an
/// unlocked space, it is not stored at all.
struct CachePrivacy: Middleware {
  /// Whether this server has private spaces.
  let hasSpaces: @Sendable () -> Bool
  /// Whether a shared cache is in front of the server.
  let isBehindEdge: Bool

  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    let answer = next(request)
    guard let principal = request.principal else { return answer }
    // With the entity tag, a concurrent editor of the same image gets 412, in a space as in the library.
    let isImage = if case .api(.image)? = request.route { true } else { false }
    let isInSpace = principal.space != nil
    let hasSpaces = hasSpaces()
    return answer.map { response in
      // Any response may reveal a space, so even public responses are not stored.
      if isInSpace {
        return response.withNoStore(
          keepingTag: isImage && response["Content-Type"] == "application/json")
      }
      var response = response
      if hasSpaces { response.vary(by: "Cookie") }
      return isBehindEdge ? response.withSharedCacheHeaders : response
    }
  }
}

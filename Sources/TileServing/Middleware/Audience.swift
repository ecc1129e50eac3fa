import ZigguratHTTPMessages

/// Says who may keep the answer to a read. With private spaces it depends on the cookie, and to a visitor who has one
/// open it is for nobody else.
struct Audience: Middleware {
  /// Whether this server has private spaces.
  let hasSpaces: @Sendable () -> Bool
  /// Whether a shared cache stands in front.
  let isBehindEdge: Bool

  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    let answer = next(request)
    guard let visitor = request.visitor else { return answer }
    // With its tag, a second editor of the same image gets 412, in a space as in the library.
    let isImage = if case .api(.image)? = request.route { true } else { false }
    let isInSpace = visitor.space != nil
    let hasSpaces = hasSpaces()
    return answer.map { response in
      // All of them may tell of a space: what is the same for everybody is not kept either.
      if isInSpace {
        return response.madePrivate(
          keepingTag: isImage && response["Content-Type"] == "application/json")
      }
      var response = response
      if hasSpaces { response.vary(by: "Cookie") }
      return isBehindEdge ? response.atEdge : response
    }
  }
}

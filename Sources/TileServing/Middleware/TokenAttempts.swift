import ZigguratHTTPMessages

/// Counts each 401 response to a wrong Bearer token as a login attempt, and responds with 429 after too many. The
/// correct token is never refused, even after failed attempts from the same address.
struct TokenAttempts: Middleware {
  let token: AccessToken
  let attempts: LoginAttempts
  let audit: AuditLog?

  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    let answer = next(request)
    guard let header = request.request.header("Authorization"), AccessToken.isBearer(header),
      !token.admits(authorization: header)
    else { return answer }
    let client = request.request.client
    let origin = request.request.origin
    return answer.map { response in
      guard response.status == 401 else { return response }
      if let refusal = attempts.refusal(of: client) { return refusal }
      attempts.countRefused()
      audit?.add(.login(.token, isRight: false), client: origin, principal: nil)
      return response
    }
  }
}

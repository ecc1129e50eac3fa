import ZigguratHTTPMessages

/// Identifies the principal of a read by the token or a session, and resets the session's idle time.
struct Authentication: Middleware {
  private let sessions: SessionTable
  private let token: AccessToken?
  private let isWritable: Bool
  private let scheme: OwnScheme

  init(_ sessions: SessionTable, _ access: TileServerConfiguration, _ scheme: OwnScheme) {
    self.sessions = sessions
    token = access.token
    isWritable = access.isWritable
    self.scheme = scheme
  }

  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    guard request.readsResource else { return next(request) }
    var request = request
    request.principal = principal(request.request)
    return next(request)
  }

  /// - Parameter isUse: whether this resets the session's idle time.
  func principal(_ request: Request, isUse: Bool = true) -> Principal {
    if let header = request.header("Authorization"), let token, token.admits(authorization: header) {
      return Principal(mayWrite: isWritable)
    }
    guard let session = sessions.session(request, isUse: isUse) else { return .anyone }
    return Principal(session, isWritable: isWritable, scheme)
  }
}

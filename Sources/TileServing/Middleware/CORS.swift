import ZigguratHTTPMessages

/// Adds the CORS headers for the sites whose pages may read a response.
struct CORS: Middleware {
  let origins: AllowedOrigins

  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    let answer = next(request)
    guard case .listed = origins else { return answer.map { $0.exposed } }
    let origin = request.request.header("Origin")
    // Only a page's own script can add the token, but a browser sends cookies for every page.
    let hasToken = request.request.header("Authorization") != nil
    return answer.map { shared($0, with: origin, hasToken: hasToken) }
  }

  /// Returns the response with the headers for a page of `origin`.
  func shared(_ response: Response, with origin: String?, hasToken: Bool) -> Response {
    guard case .listed = origins else { return response.exposed }
    var response = response
    let isPublic = response[Response.anyOrigin.name] != nil
    response[Response.anyOrigin.name] = nil
    if isPublic || hasToken { response.vary(by: "Origin") }
    guard let origin, isPublic || hasToken, origins.names(origin) else { return response }
    response[Response.anyOrigin.name] = origin
    return response.exposed
  }

  /// Returns the response to a preflight request from a listed site; `nil` for other requests.
  /// - Parameter methods: the methods of the path.
  func preflight(_ request: Request, _ methods: [String]) -> Response? {
    guard request.header("Access-Control-Request-Method") != nil, let origin = request.header("Origin"),
      origins.names(origin)
    else { return nil }
    let methods = methods.joined(separator: ", ")
    var response = Response.options
    response.headers = [
      ("Allow", methods), Response.anyOrigin, ("Access-Control-Allow-Methods", methods),
      // The wildcard does not include Authorization.
      ("Access-Control-Allow-Headers", "Authorization, " + Self.sent), ("Access-Control-Max-Age", "86400"),
    ]
    return response
  }

  private static let sent =
    "Content-Type, If-Match, If-None-Match, Range, Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset, "
    + "X-HTTP-Method-Override, X-Request-ID, X-Requested-With, Upload-Checksum, Upload-Concat, Upload-Defer-Length"
}

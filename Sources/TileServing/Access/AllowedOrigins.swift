import ZigguratHTTPMessages

/// The sites whose pages may read answers across origins (CORS), and, where they are named, write with the token.
package enum AllowedOrigins: Sendable, Equatable {
  /// Every site's pages read what everybody may, and none writes.
  case any
  /// These sites' pages alone; in lower case.
  case listed([String])

  /// `*`, `none`, or origins such as `https://example.org` with commas between; nil for anything else.
  package init?(_ text: String) {
    switch text {
    case "*": self = .any
    case "none": self = .listed([])
    default:
      let words = ListedWords.of(text).map { $0.lowercased() }
      guard words.allSatisfy(Self.isOrigin) else { return nil }
      self = .listed(words)
    }
  }

  /// `scheme://host[:port]`, as browsers write it.
  private static func isOrigin(_ text: String) -> Bool {
    guard let start = text.firstRange(of: "://"), ["http", "https"].contains(text[..<start.lowerBound]) else {
      return false
    }
    return Site.isHost(text[start.upperBound...].utf8)
  }

  func names(_ origin: String) -> Bool {
    guard case .listed(let origins) = self else { return false }
    return origins.contains(origin.lowercased())
  }
}

extension Site {
  /// An answer with what browsers are to let other sites' pages do with it.
  func shared(_ answer: Answer, with request: Request) -> Answer {
    guard case .listed = access.origins else { return answer.map(\.exposed) }
    let origin = request.header("Origin")
    // The request says by itself who it is; a cookie would be sent whoever's page asks.
    let hasToken = request.header("Authorization") != nil
    return answer.map { [self] in shared($0, with: origin, hasToken: hasToken) }
  }

  func shared(_ response: Response, with origin: String?, hasToken: Bool) -> Response {
    guard case .listed = access.origins else { return response.exposed }
    var response = response
    let isPublic = response[Response.anyOrigin.name] != nil
    response[Response.anyOrigin.name] = nil
    if isPublic || hasToken { response.vary(by: "Origin") }
    guard let origin, isPublic || hasToken, access.origins.names(origin) else { return response }
    response[Response.anyOrigin.name] = origin
    return response.exposed
  }

  /// Returns the response to the preflight request of a page whose site is named; nil for other requests.
  /// - Parameter methods: the methods of the path.
  func preflight(_ request: Request, _ methods: [String]) -> Response? {
    guard request.header("Access-Control-Request-Method") != nil, let origin = request.header("Origin"),
      access.origins.names(origin)
    else { return nil }
    let methods = methods.joined(separator: ", ")
    var response = Response.options
    response.headers = [
      ("Allow", methods), Response.anyOrigin, ("Access-Control-Allow-Methods", methods),
      // The asterisk does not stand for Authorization.
      ("Access-Control-Allow-Headers", "Authorization, " + Self.sent), ("Access-Control-Max-Age", "86400"),
    ]
    return response
  }

  private static let sent =
    "Content-Type, If-Match, If-None-Match, Range, Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset, "
    + "X-HTTP-Method-Override, X-Request-ID, X-Requested-With, Upload-Checksum, Upload-Concat, Upload-Defer-Length"
}

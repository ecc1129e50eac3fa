package import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratUploading

/// The sender of a request and its rights.
package struct Principal: Sendable {
  /// The parts of the data that can be changed.
  package enum Place: Sendable {
    /// The library that all clients see.
    case library
    /// The private space that the principal has unlocked.
    case space
  }

  /// Whether the principal may change the library that all clients see: it has the token, and the server is writable.
  package let mayWrite: Bool
  /// Whether the principal may change the private space that it has unlocked.
  package let mayWriteToSpace: Bool
  /// The kind of credential that identified the principal.
  enum Credential: String {
    case nothing, token
    /// A cookie, which browsers also send in requests that another site's page causes.
    case session
  }

  let credential: Credential
  /// The name of the session in logs.
  let session: String?
  /// The private space that is unlocked; nil if none is.
  let space: SpaceLibrary?
  /// The URL scheme of this server's own pages.
  private let scheme: OwnScheme

  /// The principal of a request without credentials, which may read public images.
  package static let anyone = Principal(mayWrite: false, .nothing)

  /// Creates the principal of a request with the token.
  init(mayWrite: Bool) { self.init(mayWrite: mayWrite, .token) }

  private init(mayWrite: Bool, _ credential: Credential) {
    self.mayWrite = mayWrite
    self.credential = credential
    mayWriteToSpace = false
    session = nil
    space = nil
    scheme = OwnScheme()
  }

  init(_ session: Session, isWritable: Bool, _ scheme: OwnScheme = OwnScheme()) {
    self.scheme = scheme
    mayWrite = isWritable && session.hasToken
    mayWriteToSpace = isWritable && session.space != nil
    credential = .session
    self.session = session.label
    space = session.space
  }

  var isByCookie: Bool { credential == .session }

  /// Whether the principal may see an upload.
  func sees(_ upload: Upload) -> Bool {
    guard let vault = upload.vault else { return mayWrite }
    return space?.space.identity == vault.owner
  }

  /// Returns the refusal of a change if the principal may not change `place`, or if another site's page may have made
  /// the request. Returns nil if the change is allowed.
  package func refusal(toChange place: Place, _ request: Request) -> Response? {
    let isAllowed =
      switch place {
      case .library: mayWrite
      case .space: mayWriteToSpace
      }
    guard isAllowed else {
      return isByCookie
        ? .problem(403, "Forbidden", "this session may not change that")
        : .unauthorized
    }
    // CSRF: browsers send cookies with requests that other sites make.
    guard !isByCookie || request.isSameOrigin(scheme) else { return .crossSite }
    return nil
  }
}

extension Request {
  /// Whether a page of this server made the request, by header fields that pages cannot forge. These are Fetch
  /// Metadata, or an Origin that agrees with the server's scheme and Host. False if neither field is present.
  func isSameOrigin(_ scheme: OwnScheme) -> Bool {
    if let site = header("Sec-Fetch-Site") { return site == "same-origin" }
    return header("Origin").map { isOwn(origin: $0, scheme) } ?? false
  }

  /// Whether a page of another site made the request, as far as the browser reports it.
  func isCrossSite(_ scheme: OwnScheme) -> Bool {
    if let site = header("Sec-Fetch-Site") { return site != "same-origin" }
    return header("Origin").map { !isOwn(origin: $0, scheme) } ?? false
  }

  private func isOwn(origin: String, _ scheme: OwnScheme) -> Bool {
    // A proxy may pass on a different Host than the browser's.
    if let base = publicBase?.lowercased(), "\(base)/".hasPrefix("\(origin.lowercased())/") { return true }
    guard let host = header("Host") else { return false }
    return origin.lowercased() == "\(scheme.name(for: self))://\(host.lowercased())"
  }
}

/// The URL scheme of the server's own pages: that of the base URL, or the one that a proxy reports. Otherwise it is
/// `http`, the only scheme that the server speaks itself.
struct OwnScheme: Sendable {
  private let known: String?

  /// - Parameter base: the base URL; empty if there is none.
  init(base: String = "") { known = base.firstRange(of: "://").map { base[..<$0.lowerBound].lowercased() } }

  /// Returns the scheme. A forwarded header is trusted from any client: a page of another site cannot add it without a
  /// preflight, which is refused.
  func name(for request: Request) -> String {
    known ?? (request.header("X-Forwarded-Proto")?.lowercased() == "https" ? "https" : "http")
  }
}

extension Response {
  static let unauthorized: Response = {
    var response = problem(401, "Unauthorized", "this needs the token of the server, or a session")
    response.headers.append(("WWW-Authenticate", "Bearer"))
    return response
  }()

  static let crossSite = problem(
    403, "Forbidden", "the request does not come from a page of this server (Sec-Fetch-Site, Origin)")
}

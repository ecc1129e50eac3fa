package import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratUploading

/// The rights of the sender of a request: what it may read and change.
package struct Principal: Sendable {
  /// The parts of the data that can be changed.
  package enum Place: Sendable {
    /// The library that all clients see.
    case library
    /// The private space that the visitor has unlocked.
    case space
  }

  /// May change what everybody sees: has the token, on a server that lets itself be written to.
  package let mayWrite: Bool
  /// May change the private space that is unlocked.
  package let mayWriteToSpace: Bool
  /// The way in which a visitor has identified.
  enum Credential: String {
    case nothing, token
    /// By a cookie, which browsers send also where another site's page makes them.
    case session
  }

  let credential: Credential
  /// The name of the session in logs.
  let session: String?
  /// The private space that is unlocked.
  let space: SpaceLibrary?
  /// The scheme that this server's own pages have.
  private let scheme: OwnScheme

  /// May read what everybody may.
  package static let anyone = Principal(mayWrite: false, .nothing)

  /// By the token.
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

  /// Whether an upload is the visitor's business.
  func sees(_ upload: Upload) -> Bool {
    guard let vault = upload.vault else { return mayWrite }
    return space?.space.identity == vault.owner
  }

  /// Returns the refusal for a visitor who may not change `place`, or whose request another site's page may have made; nil if
  /// the request is allowed.
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
    guard !isByCookie || request.isSameOrigin(scheme) else { return .crossSite }
    return nil
  }
}

extension Request {
  /// Whether a page of this server made the request, by what only browsers write: Fetch Metadata, or the
  /// Origin's scheme and host against the server's and Host (both unforgeable by a page). False if neither is there.
  func isSameOrigin(_ scheme: OwnScheme) -> Bool {
    if let site = header("Sec-Fetch-Site") { return site == "same-origin" }
    return header("Origin").map { isOwn(origin: $0, scheme) } ?? false
  }

  /// Whether a page of another site made the request, as far as a browser tells.
  func isCrossSite(_ scheme: OwnScheme) -> Bool {
    if let site = header("Sec-Fetch-Site") { return site != "same-origin" }
    return header("Origin").map { !isOwn(origin: $0, scheme) } ?? false
  }

  private func isOwn(origin: String, _ scheme: OwnScheme) -> Bool {
    // A proxy may pass another Host on than the one that the browser has.
    if let base = publicBase?.lowercased(), "\(base)/".hasPrefix("\(origin.lowercased())/") { return true }
    guard let host = header("Host") else { return false }
    return origin.lowercased() == "\(scheme.name(for: self))://\(host.lowercased())"
  }
}

/// The scheme of the server's own pages: the base URL's, else what a proxy says of the request, else `http`, which is
/// all that the server speaks itself.
struct OwnScheme: Sendable {
  private let known: String?

  /// - Parameter base: the base URL; empty if there is none.
  init(base: String = "") { known = base.firstRange(of: "://").map { base[..<$0.lowerBound].lowercased() } }

  /// The header of a proxy counts from anybody: a page of another site cannot add it without a preflight, which is
  /// refused.
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

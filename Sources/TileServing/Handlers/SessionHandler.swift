import Foundation
import Synchronization
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary

/// Serves `/api/session`: logs a client in by a password or token, and out.
struct SessionHandler: Sendable {
  let sessions: SessionTable
  let upkeep: SessionUpkeep
  let principals: Authentication
  let passwords: PasswordAccess
  let library: any ImageRepository
  let access: TileServerConfiguration
  let audit: AuditTrail
  let pairing: PairingCodes
  let scheme: OwnScheme

  private var attempts: LoginAttempts { audit.attempts }

  func reply(to request: Request) -> Reply {
    let answer: Reply =
      switch request.method {
      // A page that checks whether its session lasts must not extend it.
      case "GET", "HEAD": .response(sessionState(request))
      case "OPTIONS": .response(Response(204, [("Allow", Self.sessionMethods)], .bytes([])))
      case "POST": login(request)
      case "DELETE": .response(logout(request))
      default: .response(.methodNotAllowed(besides: ["POST", "DELETE"], isProblem: true))
      }
    // Never cached, and not readable by pages of other sites.
    return answer.map(\.withNoStore)
  }

  private static let sessionMethods = "GET, HEAD, OPTIONS, POST, DELETE"

  /// The rights of the principal of a request.
  private struct State: Encodable {
    /// Whether the principal may change the library that all clients see.
    let canWrite: Bool
    /// Whether the session has a private space open.
    let hasSpace: Bool
    let canWriteSpace: Bool
    /// Whether the server accepts passwords at all.
    let acceptsPassword: Bool
    /// Seconds until the session ends if it is not used.
    let expiresIn: Int?
  }

  private func sessionState(_ request: Request) -> Response {
    let principal = principals.principal(request, isUse: false)
    let session = principal.isByCookie ? sessions.session(request, isUse: false) : nil
    return .json(
      State(
        canWrite: principal.mayWrite, hasSpace: principal.space != nil,
        canWriteSpace: principal.mayWriteToSpace,
        acceptsPassword: passwords.spaces?.isOffered == true, expiresIn: session.map(sessions.rest)))
  }

  private func logout(_ request: Request) -> Response {
    guard sessions.session(request) == nil || request.isSameOrigin(scheme) else { return .crossSite }
    if let session = sessions.session(request) {
      audit.note(.logout, request, Principal(session, isWritable: access.isWritable, scheme))
    }
    sessions.end(request)
    upkeep.forgetUploads()
    return Response(
      204, [("Set-Cookie", sessions.cookie.unsetting), ("Clear-Site-Data", "\"cache\"")], .bytes([]))
  }

  private func login(_ request: Request) -> Reply {
    // Another site must not make a browser log in at a place of its choice.
    guard !request.isCrossSite(scheme) else { return .response(.crossSite) }
    let type = request.header("Content-Type")?.split(separator: ";").first?.lowercased()
    guard type?.filter({ $0 != " " }) == "application/json" else {
      return .problem(415, "Not JSON", "Content-Type must be application/json")
    }
    guard let credential = Credential(json: request.body) else {
      return .problem(
        "Bad credential",
        [InvalidInput(body: [], "it takes {\"password\": …} or {\"token\": …}, of at most 1024 bytes")])
    }
    if case .password = credential, passwords.spaces?.isOffered != true {
      return .problem(403, "Forbidden", "this server does not accept passwords")
    }
    switch credential {
    case .token(let text):
      // Before any limit: 256 bits resist brute force, and failed attempts of others must not lock the owner out.
      let isToken = access.token?.isSame(text.utf8) ?? false
      guard isToken || pairing.take(text, now: access.clock(), isOpen: sessions.isOpen(label:)) else {
        if let refusal = attempts.refusal(of: request.client) { return .response(refusal) }
        audit.note(.login(.token, isRight: false), request)
        return .response(.refused("the token is not the token of the server"))
      }
      return .response(begin(request, isToken ? .token : .pairing) { $0.hasToken = true })
    case .password(let password):
      let address = request.client
      if let refusal = attempts.refusal(of: address) { return .response(refusal) }
      let (cookies, origin) = (request.header("Cookie"), request.origin)
      let open = { @Sendable [self] () -> Reply in
        let request = Request(method: "POST", rawPath: [], origin: origin) {
          $0 == "Cookie" ? cookies : nil
        }
        return .response(unlock(password, address, request))
      }
      return passwords.queue.reply(
        for: address, open, ifRefused: { [attempts] in attempts.withdraw(address) })
    }
  }

  /// Unlocks a space with a password. The key derivation takes half a second.
  private func unlock(_ password: String, _ address: ClientAddress, _ request: Request) -> Response {
    func failure(_ error: StorageError) -> Response {
      attempts.withdraw(address)
      return error.isTemporary
        ? .catalogError(error)
        : .problem(500, "Unreadable", "the private spaces cannot be read").withReason(error)
    }
    let found: (any OpenSpace)?
    do throws(StorageError) { found = try passwords.spaces?.open(password) } catch {
      return failure(library.lookForOutage() ? .libraryIsAway : error)
    }
    guard let opened = found else {
      // If the library is unavailable, no password opens a space; this one may be correct.
      if library.lookForOutage() { return failure(.libraryIsAway) }
      audit.note(.login(.password, isRight: false), request)
      return .refused("no space opens with this password")
    }
    attempts.succeeded(address)
    let space: SpaceLibrary
    if let known = sessions.space(of: opened.identity) {
      // One copy of the keys in memory is enough.
      opened.wipeKeys()
      space = known
    } else {
      do throws(StorageError) { space = try SpaceLibrary(opened) } catch {
        return failure(library.lookForOutage() ? .libraryIsAway : error)
      }
      _ = try? space.library.updateCatalog()
    }
    return begin(request, .password) { $0.space = space }
  }

  private func begin(
    _ request: Request, _ credential: AuditEvent.Credential, _ change: (inout Session) -> Void
  ) -> Response {
    let id = sessions.begin(instead: request, adding: change)
    // The client may have had the last session of another space, and may return to it within a second.
    upkeep.forgetUploads()
    let cookie = sessions.cookie.setting(id)
    let begun = Request(method: "GET", rawPath: []) { $0 == "Cookie" ? cookie : nil }
    audit.note(.login(credential, isRight: true), request, principals.principal(begun))
    var response = sessionState(begun)
    response.headers.append(("Set-Cookie", cookie))
    return response
  }

}

extension Response {
  static func refused(_ why: String) -> Response {
    var response = problem(401, "Unauthorized", why)
    response.headers.append(("WWW-Authenticate", "Bearer"))
    return response
  }
}

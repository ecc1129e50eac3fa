import Glibc
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary

/// The dependencies of handlers that change the library.
struct ChangeAccess: Sendable {
  let audit: AuditTrail
  let disk: DiskSpace
}

/// A handler that changes the library or a private space.
protocol ChangeHandler: LibraryHandler {
  var changes: ChangeAccess { get }
}

extension ChangeHandler {
  /// - Parameters:
  ///   - id: the id of the image to change, as in the path; nil if the body has ids.
  ///   - answer: makes the reply after the body has arrived. Its handler has the principal of that time.
  func plan(of id: String? = nil, _ answer: @escaping @Sendable (Self, Request) -> Reply) -> RequestBodyPolicy
  {
    if let refusal = refusal(toChange: id) { return .refuse(refusal) }
    // Enough for a thousand ids of usual length.
    return .collect(limit: InputLimit.request.bytes) { request in
      let handler = identifiedAgain()
      // The session may have ended, or its space been locked, while the body arrived.
      if let refusal = handler.refusal(toChange: id) { return .response(refusal) }
      return answer(handler, request).map(\.withNoStore)
    }
  }

  private func refusal(toChange id: String?) -> Response? {
    let place: Principal.Place =
      switch id.map({ ImageReference.parts(of: $0).repository }) {
      // An image of a space that is not open here is not found; the handler responds so.
      case .space: principal.mayWrite && principal.space == nil ? .library : .space
      case .library: .library
      case nil: principal.mayWrite ? .library : .space
      }
    return principal.refusal(toChange: place, request)?.withNoStore
  }

  /// The unlocked space of the principal, if it may change the space.
  var writableSpace: SpaceLibrary? { principal.mayWriteToSpace ? principal.space : nil }

  func note(_ event: AuditEvent) { changes.audit.note(event, request, principal) }

  func failure(_ error: any Error) -> Response {
    let unwritable = Response.problem(500, "Unwritable", "the change could not be written")
    guard let error = error as? StorageError else { return unwritable.withReason(String(describing: error)) }
    // Nothing is lost, and the reason contains the remedy.
    if error.code == EEXIST { return .problem(409, "Conflict", error.reason) }
    if error == .libraryIsAway { return .catalogError(error) }
    guard error.isTemporary else { return unwritable.withReason(String(describing: error)) }
    if error.isOfFullDisk {
      changes.disk.noteRefusal()
      return .problem(507, "Insufficient storage", "the server's disk is full; nothing was changed")
    }
    var response = Response.problem(
      503, "Busy",
      library.catalog.isReachable
        ? "the change could not be written; try again later"
        : "the catalog cannot be reached at present; try again")
    response["Retry-After"] = "1"
    return response
  }
}

extension Response {
  static let unknownImage = problem(404, "Not found", "there is no image of this id")
}

import Glibc
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary

/// The dependencies of handlers that change the library.
struct ChangeAccess: Sendable {
  /// Whether images can be changed over HTTP.
  let isWritable: Bool
  let audit: AuditTrail
  let disk: DiskSpace
}

/// A handler that changes the library or a private space.
protocol ChangeHandler: LibraryHandler {
  var changes: ChangeAccess { get }
}

extension ChangeHandler {
  /// - Parameter id: of the image to change, as in the path; nil if the body has ids.
  func plan(of id: String? = nil, _ answer: @escaping @Sendable (Request) -> Reply) -> BodyPlan {
    guard changes.isWritable else { return .refuse(.methodNotAllowed(besides: [], isProblem: true)) }
    let place: Visitor.Place =
      switch id.map({ ImageReference.parts(of: $0).repository }) {
      // An image of a space that is not open here is not found; the handler says so.
      case .space: visitor.mayWrite && visitor.space == nil ? .library : .space
      case .library: .library
      case nil: visitor.mayWrite ? .library : .space
      }
    if let refusal = visitor.refusal(toChange: place, request) { return .refuse(refusal.madePrivate) }
    // A thousand ids of some length.
    return .collect(limit: InputLimit.request.bytes) { answer($0).map(\.madePrivate) }
  }

  /// The unlocked space of the visitor, if the visitor may change it.
  var writableSpace: SpaceLibrary? { visitor.mayWriteToSpace ? visitor.space : nil }

  func note(_ event: AuditEvent) { changes.audit.note(event, request, visitor) }

  func failure(_ error: any Error) -> Response {
    // Nothing is lost, and the reason names the way out.
    if let error = error as? StorageError, error.code == EEXIST {
      return .problem(409, "Conflict", error.reason)
    }
    if let error = error as? StorageError, error == .libraryIsAway { return .unlisted(error) }
    guard (error as? StorageError)?.isTemporary == true else {
      let response: Response = .problem(500, "Unwritable", "the change could not be written")
      return response.because(String(describing: error))
    }
    if let error = error as? StorageError, error.isOfFullDisk {
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

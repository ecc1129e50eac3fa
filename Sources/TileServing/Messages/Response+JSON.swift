import Foundation
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages

extension Response {
  /// The message for an existing resource that is temporarily unavailable: memory is short, or a store or database
  /// is unreachable.
  static let heldUpWords = "what was asked for cannot be reached now; try again"

  static func json(_ value: some Encodable, as mediaType: String = "application/json") -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Only our own strings, numbers and lists are encoded, which always succeeds.
    return json(Array(try! encoder.encode(value)), mediaType)
  }
}

extension Response {
  /// Returns the response if the catalog is unreachable or unreadable.
  static func unlisted(_ error: StorageError) -> Response {
    if error.kind == .unreachable {
      var response = Response.problem(
        503, "Unavailable", "the images of the library cannot be listed at present; try again")
      response["Retry-After"] = "1"
      return response.because(error)
    }
    return .problem(500, "Unreadable", "the library's catalog cannot be read").because(error)
  }
}

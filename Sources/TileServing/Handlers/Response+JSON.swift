import Foundation
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages

extension Response {
  /// The message for something that exists and is not available at present: memory is short, or a store or database
  /// cannot be reached.
  static let unavailableMessage = "what was asked for cannot be reached now; try again"

  static func json(_ value: some Encodable, as mediaType: String = "application/json") -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Only our own strings, numbers and lists are encoded, which always succeeds.
    return json(Array(try! encoder.encode(value)), mediaType)
  }

  /// Returns the response to an error of the catalog.
  static func catalogError(_ error: StorageError) -> Response {
    if error.kind == .unreachable {
      var response = Response.problem(
        503, "Unavailable", "the images of the library cannot be listed at present; try again")
      response["Retry-After"] = "1"
      return response.withReason(error)
    }
    return .problem(500, "Unreadable", "the library's catalog cannot be read").withReason(error)
  }
}

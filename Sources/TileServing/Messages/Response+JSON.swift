import Foundation
import ZigguratHTTPMessages

extension Response {
  /// What is said where something is there, but is not available at present: of no memory, or a store or database that is away.
  static let heldUpWords = "what was asked for cannot be reached now; try again"

  static func json(_ value: some Encodable, as mediaType: String = "application/json") -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Only strings, numbers and lists of our own are encoded, which always succeeds.
    return json(Array(try! encoder.encode(value)), mediaType)
  }
}

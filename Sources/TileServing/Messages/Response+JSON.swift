import Foundation
import ZigguratHTTPMessages

extension Response {
  /// The message for something that exists and is not available at present: memory is short, or a store or database cannot be
  /// reached.
  static let heldUpWords = "what was asked for cannot be reached now; try again"

  static func json(_ value: some Encodable, as mediaType: String = "application/json") -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Only strings, numbers and lists of our own are encoded, which always succeeds.
    return json(Array(try! encoder.encode(value)), mediaType)
  }
}

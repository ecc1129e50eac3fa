/// Request names of version 0.1. They are still accepted, but documented nowhere; answers contain the present names
/// alone. To remove them, remove this file, and each use that no longer compiles.
package enum DeprecatedNames {
  // Parts of the API, below `/api/`.
  package static let trash: StaticString = "deleted"
  package static let pairing: StaticString = "qr.svg"

  /// Query parameters by their former names.
  package static let parameters = ["in": "book", "margin": "buffer", "g": "v"]

  /// Returns the present name of a parameter if `known` contains it; otherwise the name itself.
  package static func present(_ name: String, among known: [String]) -> String {
    guard !known.contains(name), let present = parameters[name], known.contains(present) else { return name }
    return present
  }

  /// The first byte of `g=`, for stored tiles, whose queries are parsed without a string.
  @inline(__always)
  package static var version: UInt8 { UInt8(ascii: "g") }

  /// Former Boolean parameters of the viewport query that are now items of `include`.
  package static let included: KeyValuePairs = ["overview": "overview", "describe": "description"]

  /// Members of an image that `fields` may name. `book` is not among them: it has another meaning now.
  package static let fields = ["in": "book", "moves": "animated", "place": "location"]

  /// Members of a request for a copy.
  package static let copyMembers = ["turn": "rotation"]

  /// The header by which caches ask for the server that accepts changes.
  package static let writerHeader = (name: "Ziggurat-Writer", value: "required")
}

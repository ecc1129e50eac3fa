/// Headers whose lines are one list when there are several (RFC 9110, section 5.3).
package enum ListHeaders {
  /// Those that answers depend on; a proxy adds a line of its own to the last.
  private static let names: Set<String> = [
    "accept", "accept-encoding", "forwarded", "if-match", "if-none-match", "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-prefix", "x-forwarded-proto",
  ]

  package static func isList(_ name: String) -> Bool { names.contains(name.lowercased()) }
}

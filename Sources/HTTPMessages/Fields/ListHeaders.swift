/// Headers whose lines form one list if there are several (RFC 9110, section 5.3).
package enum ListHeaders {
  /// The list headers on which answers depend. A proxy may add its value as another line.
  private static let names: Set<String> = [
    "accept", "accept-encoding", "forwarded", "if-match", "if-none-match", "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-prefix", "x-forwarded-proto",
  ]

  package static func isList(_ name: String) -> Bool { names.contains(name.lowercased()) }
}

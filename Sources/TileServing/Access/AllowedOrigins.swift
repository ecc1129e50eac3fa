import ZigguratHTTPMessages

/// The sites whose pages may read responses across origins (CORS). Listed sites may also write with the token.
package enum AllowedOrigins: Sendable, Equatable {
  /// Pages of every site can read public responses; none can write.
  case any
  /// Only pages of these sites have access. Origins are in lower case.
  case listed([String])

  /// Parses `*`, `none`, or comma-separated origins such as `https://example.org`. Returns `nil` if the text is
  /// invalid.
  package init?(_ text: String) {
    switch text {
    case "*": self = .any
    case "none": self = .listed([])
    default:
      let items = CommaSeparatedList.of(text).map { $0.lowercased() }
      guard items.allSatisfy(Self.isOrigin) else { return nil }
      self = .listed(items)
    }
  }

  /// Whether the text is `scheme://host[:port]`, as browsers write it.
  private static func isOrigin(_ text: String) -> Bool {
    guard let start = text.firstRange(of: "://"), ["http", "https"].contains(text[..<start.lowerBound]) else {
      return false
    }
    return ServerAddress.isHost(text[start.upperBound...].utf8)
  }

  func names(_ origin: String) -> Bool {
    guard case .listed(let origins) = self else { return false }
    return origins.contains(origin.lowercased())
  }
}

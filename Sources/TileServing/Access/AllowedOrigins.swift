import ZigguratHTTPMessages

/// The sites whose pages may read answers across origins (CORS), and, where they are named, write with the token.
package enum AllowedOrigins: Sendable, Equatable {
  /// Every site's pages read what everybody may, and none writes.
  case any
  /// These sites' pages alone; in lower case.
  case listed([String])

  /// `*`, `none`, or origins such as `https://example.org` with commas between; nil for anything else.
  package init?(_ text: String) {
    switch text {
    case "*": self = .any
    case "none": self = .listed([])
    default:
      let words = ListedWords.of(text).map { $0.lowercased() }
      guard words.allSatisfy(Self.isOrigin) else { return nil }
      self = .listed(words)
    }
  }

  /// `scheme://host[:port]`, as browsers write it.
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

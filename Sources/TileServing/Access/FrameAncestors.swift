import ZigguratHTTPMessages

/// The sites whose pages may show the viewer in a frame (Content Security Policy 3, section 6.4.2).
package struct FrameAncestors: Sendable, Equatable {
  /// The value of the directive `frame-ancestors`.
  let policy: String

  /// This server's own pages.
  package static let own = FrameAncestors(policy: "'self'")

  /// Every site: a frame shows only public content.
  package static let any = FrameAncestors(policy: "*")

  private init(policy: String) { self.policy = policy }

  /// Parses `self`, `none`, `*`, or comma-separated sites such as `https://example.org` and
  /// `https://*.example.org`. `none` and `*` must be the only value. Returns `nil` if the text is invalid.
  package init?(_ text: String) {
    let items = CommaSeparatedList.of(text).map { $0.lowercased() }
    if items == ["none"] || items == ["*"] {
      policy = items[0] == "*" ? "*" : "'none'"
      return
    }
    var sources: [String] = []
    for item in items {
      if item == "self" {
        sources.append("'self'")
      } else if Self.isSource(item) {
        sources.append(item)
      } else {
        return nil
      }
    }
    policy = sources.joined(separator: " ")
  }

  private static func isSource(_ text: String) -> Bool {
    guard let start = text.firstRange(of: "://"), ["http", "https"].contains(text[..<start.lowerBound]) else {
      return false
    }
    let host = text[start.upperBound...]
    return ServerAddress.isHost((host.hasPrefix("*.") ? host.dropFirst(2) : host).utf8)
  }
}

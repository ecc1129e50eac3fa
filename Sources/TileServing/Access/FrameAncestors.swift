import ZigguratHTTPMessages

/// The sites whose pages may show the viewer in a frame of theirs (Content Security Policy 3, section
/// 6.4.2).
package struct FrameAncestors: Sendable, Equatable {
  /// As the policy has it.
  let policy: String

  /// This server's own pages.
  package static let own = FrameAncestors(policy: "'self'")

  /// Whoever wants to: there is nothing in a frame that everybody may not see.
  package static let any = FrameAncestors(policy: "*")

  private init(policy: String) { self.policy = policy }

  /// `self`, `none`, `*`, and sites such as `https://example.org` or `https://*.example.org`, with commas between;
  /// `none` and `*` stand alone. Nil for anything else.
  package init?(_ text: String) {
    let words = ListedWords.of(text).map { $0.lowercased() }
    if words == ["none"] || words == ["*"] {
      policy = words[0] == "*" ? "*" : "'none'"
      return
    }
    var sources: [String] = []
    for word in words {
      if word == "self" {
        sources.append("'self'")
      } else if Self.isSource(word) {
        sources.append(word)
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

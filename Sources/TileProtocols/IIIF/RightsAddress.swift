package import TileStorage

/// A valid value of `rights`: the address of a known licence or rights statement. It has the form of the licence's own
/// identifier, which begins with http (IIIF Image API 3.0, section 5.6; Presentation 3.0, section 3.2).
package struct RightsAddress {
  package let text: String

  package init?(_ rights: String) {
    guard rights.utf8.count <= 500, rights.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
      let match = rights.prefixMatch(
        of: #/https?://(?:www\.)?(creativecommons|rightsstatements)\.org/([A-Za-z0-9.+\/\-]+)/#.ignoresCase())
    else { return nil }
    let isCommons = match.output.1.lowercased() == "creativecommons"
    var parts = match.output.2.split(separator: "/").map(String.init)
    // People copy the address of the page that explains a licence.
    if isCommons, let last = parts.last, last.hasPrefix("deed") || last.hasPrefix("legalcode") {
      parts.removeLast()
    }
    if !isCommons, ["page", "data"].contains(parts[0]) { parts[0] = "vocab" }
    let kinds = isCommons ? ["licenses", "publicdomain"] : ["vocab"]
    guard parts.count >= 3, kinds.contains(parts[0]) else { return nil }
    text = "http://\(match.output.1.lowercased()).org/\(parts.joined(separator: "/"))/"
  }

  /// Finds the first address in an image's metadata: the licence before the web page about rights.
  package init?(_ metadata: ImageMetadata) {
    for text in [metadata.license, metadata.webStatement, metadata.rights] {
      if let address = text.flatMap(RightsAddress.init(_:)) {
        self = address
        return
      }
    }
    return nil
  }
}

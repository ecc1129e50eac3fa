import ZigguratTileProtocols

/// The name of a server and its owner.
package struct SiteIdentity: Codable, Equatable, Sendable {
  /// The name of the server; nil for the program's own name.
  package let name: String?
  package let provider: Provider?

  package init() { (name, provider) = (nil, nil) }

  /// Creates an identity; nil if the name is invalid. A valid name is one line of at most 200 bytes.
  package init?(name: String?, provider: Provider?) {
    if let name {
      guard (1...200).contains(name.utf8.count), !name.allSatisfy(\.isWhitespace),
        !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control || $0 == "\u{2028}" }
        )
      else { return nil }
    }
    self.name = name
    self.provider = provider
  }

  /// A page with the name where it has the program's: as its title, and behind the sign at its top.
  func named(_ page: [UInt8]) -> [UInt8] {
    guard let name, let text = String(validating: page, as: UTF8.self) else { return page }
    let escaped = HTMLText.escaped(name)
    return Array(
      text.replacing("<title>Ziggurat</title>", with: "<title>\(escaped)</title>")
        .replacing("Ziggurat</h1>", with: "\(escaped)</h1>").utf8)
  }
}

import ZigguratTileProtocols

/// The name and the owner of a site.
package struct SiteIdentity: Codable, Equatable, Sendable {
  /// The site's name; `nil` for the name of the program.
  package let name: String?
  package let provider: Provider?

  package init() { (name, provider) = (nil, nil) }

  /// Returns `nil` if the name is invalid: it must be one line of at most 200 bytes.
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

  /// Returns the page with the site's name as its title and next to the logo at its top.
  func named(_ page: [UInt8]) -> [UInt8] {
    guard let name, let text = String(validating: page, as: UTF8.self) else { return page }
    let escaped = HTMLText.escaped(name)
    return Array(
      text.replacing("<title>Ziggurat</title>", with: "<title>\(escaped)</title>")
        .replacing("Ziggurat</h1>", with: "\(escaped)</h1>").utf8)
  }
}

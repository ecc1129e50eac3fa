package import ZigguratHTTPMessages

/// The proxies whose forwarding headers are trusted.
///
/// A proxy appends the address of its peer to `X-Forwarded-For`. The values before it are untrusted. The header is
/// therefore read from its end, as long as its writers are trusted.
package struct TrustedProxies: Sendable {
  private let ranges: [AddressRange]
  /// Whether clients that connect through a Unix socket are trusted proxies.
  private let hasSockets: Bool

  /// No trusted proxies.
  package static let none = TrustedProxies(ranges: [], hasSockets: false)
  /// Proxies on this machine.
  package static let local = TrustedProxies("127.0.0.0/8,::1,unix")!

  private init(ranges: [AddressRange], hasSockets: Bool) {
    self.ranges = ranges
    self.hasSockets = hasSockets
  }

  /// Parses comma-separated address ranges and `unix` for Unix sockets, or `none` alone. Returns `nil` if the text
  /// is invalid.
  package init?(_ text: String) {
    if text == "none" {
      self = .none
      return
    }
    var (ranges, hasSockets): ([AddressRange], Bool) = ([], false)
    for item in CommaSeparatedList.of(text) {
      if item == "unix" {
        hasSockets = true
      } else if let range = AddressRange(item) {
        ranges.append(range)
      } else {
        return nil
      }
    }
    self.init(ranges: ranges, hasSockets: hasSockets)
  }

  /// - Parameter peer: the remote address of a connection; `nil` if it has none.
  package func trusts(_ peer: IPAddress?) -> Bool {
    guard let peer else { return hasSockets }
    return ranges.contains { $0.contains(peer) }
  }

  /// Returns the address of the client that sent a request. Called for every request that arrives through a proxy.
  /// - Parameters:
  ///   - peer: the remote address of its connection.
  ///   - forwarded: the value of `X-Forwarded-For`, with all its lines joined; empty if it is absent.
  package func origin(_ peer: IPAddress?, forwarded: UnsafeBufferPointer<UInt8>) -> IPAddress? {
    guard !forwarded.isEmpty, trusts(peer) else { return peer }
    var (origin, end) = (peer, forwarded.count)
    while end >= 0 {
      let start = forwarded[..<end].lastIndex(of: UInt8(ascii: ",")).map { $0 + 1 } ?? 0
      // `unknown` or an obfuscated value: its writer is the last known address.
      guard let address = IPAddress(withPort: Self.trimmed(forwarded[start..<end])) else { return origin }
      origin = address
      if !trusts(address) { return origin }
      end = start - 1
    }
    return origin
  }

  private static func trimmed(
    _ text: Slice<UnsafeBufferPointer<UInt8>>
  ) -> Slice<UnsafeBufferPointer<UInt8>> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    var text = text.drop(while: isBlank)
    while let last = text.last, isBlank(last) { text.removeLast() }
    return text
  }
}

package import ZigguratHTTPMessages

/// The proxies whose word counts for where a request comes from.
///
/// A proxy adds the address that it sees to the end of `X-Forwarded-For`; what stands before that was sent by
/// whoever it is. So the header is read from its end as long as those who wrote it are trusted.
package struct TrustedProxies: Sendable {
  private let ranges: [AddressRange]
  /// Whether whoever comes through a socket of this machine's file system is one.
  private let hasSockets: Bool

  /// Nobody's word counts.
  package static let none = TrustedProxies(ranges: [], hasSockets: false)
  /// A proxy on this machine.
  package static let local = TrustedProxies("127.0.0.0/8,::1,unix")!

  private init(ranges: [AddressRange], hasSockets: Bool) {
    self.ranges = ranges
    self.hasSockets = hasSockets
  }

  /// Ranges of addresses with commas between, `unix` for sockets of this machine's file system, or `none` alone;
  /// nil for anything else.
  package init?(_ text: String) {
    if text == "none" {
      self = .none
      return
    }
    var (ranges, hasSockets): ([AddressRange], Bool) = ([], false)
    for word in ListedWords.of(text) {
      if word == "unix" {
        hasSockets = true
      } else if let range = AddressRange(word) {
        ranges.append(range)
      } else {
        return nil
      }
    }
    self.init(ranges: ranges, hasSockets: hasSockets)
  }

  /// - Parameter peer: where a connection comes from; nil where it has no address.
  package func trusts(_ peer: IPAddress?) -> Bool {
    guard let peer else { return hasSockets }
    return ranges.contains { $0.contains(peer) }
  }

  /// Returns the client address of a request. It is called for every request of a proxy.
  /// - Parameters:
  ///   - peer: where its connection comes from.
  ///   - forwarded: its `X-Forwarded-For`, all lines of it as one; nothing where it has none.
  package func origin(_ peer: IPAddress?, forwarded: UnsafeBufferPointer<UInt8>) -> IPAddress? {
    guard !forwarded.isEmpty, trusts(peer) else { return peer }
    var (origin, end) = (peer, forwarded.count)
    while end >= 0 {
      let start = forwarded[..<end].lastIndex(of: UInt8(ascii: ",")).map { $0 + 1 } ?? 0
      // `unknown` and the like: who wrote it is the last that is known.
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

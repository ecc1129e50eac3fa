/// A range of addresses that begin with the same bits, in CIDR notation: `10.0.0.0/8`, `2001:db8::/32`, or one address.
package struct AddressRange: Hashable, Sendable {
  private let first: IPAddress
  /// The mask of the bits, among 128, that all addresses share.
  private let mask: (high: UInt64, low: UInt64)

  /// Parses a range. Nil if the text is not a range, or the address has bits behind the prefix: the author of
  /// `10.1.0.0/8` means something else.
  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let address = IPAddress(parts[0]) else { return nil }
    let width = address.isIPv4 && !parts[0].contains(":") ? 32 : 128
    var bits = width
    if parts.count == 2 {
      guard parts[1].utf8.count <= 3, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = Int(parts[1]), number <= width
      else { return nil }
      bits = number
    }
    bits += 128 - width
    mask = (Self.ones(min(bits, 64)), Self.ones(max(bits - 64, 0)))
    first = address
    guard first.high & ~mask.high == 0, first.low & ~mask.low == 0 else { return nil }
  }

  package func contains(_ address: IPAddress) -> Bool {
    address.high & mask.high == first.high && address.low & mask.low == first.low
  }

  /// Returns an integer whose highest `count` bits are ones.
  private static func ones(_ count: Int) -> UInt64 { count == 0 ? 0 : ~0 << UInt64(64 - count) }

  package static func == (a: AddressRange, b: AddressRange) -> Bool { a.first == b.first && a.mask == b.mask }

  package func hash(into hasher: inout Hasher) { hasher.combine(first) }
}

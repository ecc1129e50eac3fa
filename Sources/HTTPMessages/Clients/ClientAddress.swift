/// Who a client is as far as limits and turns go: an IPv4 address, or the 64 bits of an IPv6 network that one
/// customer has.
package enum ClientAddress: Hashable, Sendable {
  /// The address in the order of its digits: 127.0.0.1 is 0x7f000001.
  case ipv4(UInt32)
  /// The upper half of the address, in the order of its digits.
  case ipv6(network: UInt64)
  /// Whoever has no address, as over a socket of this machine: all of them count as one.
  case unknown

  /// - Parameter address: nil where there is none.
  package init(_ address: IPAddress?) {
    guard let address else {
      self = .unknown
      return
    }
    self = address.isIPv4 ? .ipv4(UInt32(truncatingIfNeeded: address.low)) : .ipv6(network: address.high)
  }

  /// An address in words; nil where it is none.
  package init?(_ text: some StringProtocol) {
    guard let address = IPAddress(text) else { return nil }
    self.init(address)
  }
}

/// The identity of a client for limits and fair queueing: an IPv4 address, or the 64-bit prefix of an IPv6 network,
/// which one customer has.
package enum ClientAddress: Hashable, Sendable {
  /// The address in the order of its digits: 127.0.0.1 is 0x7f000001.
  case ipv4(UInt32)
  /// The upper half of the address, in the order of its digits.
  case ipv6(network: UInt64)
  /// A client without an address, for example over a Unix socket. All of them count as one client.
  case unknown

  /// - Parameter address: nil if the client has none.
  package init(_ address: IPAddress?) {
    guard let address else {
      self = .unknown
      return
    }
    self = address.isIPv4 ? .ipv4(UInt32(truncatingIfNeeded: address.low)) : .ipv6(network: address.high)
  }

  /// Parses the text of an address; nil if it is not an address.
  package init?(_ text: some StringProtocol) {
    guard let address = IPAddress(text) else { return nil }
    self.init(address)
  }
}

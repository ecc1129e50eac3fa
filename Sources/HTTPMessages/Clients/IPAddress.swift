package import Glibc

/// An IPv4 or IPv6 address, without a port or a zone.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  /// The address's 128 bits in the order of its digits. An IPv4 address is `::ffff:a.b.c.d` (RFC 4291, section
  /// 2.5.5.2), so that both spellings are the same address.
  package let high: UInt64
  package let low: UInt64

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  private init(_ address: in_addr) {
    self.init(high: 0, low: 0xffff << 32 | UInt64(UInt32(bigEndian: address.s_addr)))
  }

  private init(_ address: in6_addr) {
    // An in6_addr is aligned to four bytes only.
    (high, low) = withUnsafeBytes(of: address) { bytes in
      (
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }

  /// Reads a socket's address without its port; nil for families other than IPv4 and IPv6.
  package init?(_ address: UnsafePointer<sockaddr>) {
    let pointer = UnsafeRawPointer(address)
    switch Int32(address.pointee.sa_family) {
    case AF_INET: self.init(pointer.load(as: sockaddr_in.self).sin_addr)
    case AF_INET6: self.init(pointer.load(as: sockaddr_in6.self).sin6_addr)
    default: return nil
    }
  }

  /// Parses the text of an address, `192.0.2.7` or `2001:db8::7`; nil if it is not an address.
  package init?(_ text: some StringProtocol) {
    var text = String(text)
    guard let address = text.withUTF8({ IPAddress($0[...]) }) else { return nil }
    self = address
  }

  /// Parses an address in ASCII, as in a header.
  init?(_ text: Slice<UnsafeBufferPointer<UInt8>>) {
    guard (1..<Int(INET6_ADDRSTRLEN)).contains(text.count), !text.contains(0) else { return nil }
    let capacity = Int(INET6_ADDRSTRLEN)
    let address = withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { room -> IPAddress? in
      let words = room.baseAddress.unsafelyUnwrapped
      memcpy(words, text.base.baseAddress.unsafelyUnwrapped + text.startIndex, text.count)
      words[text.count] = 0
      var (four, six) = (in_addr(), in6_addr())
      if inet_pton(AF_INET, words, &four) == 1 { return IPAddress(four) }
      return inet_pton(AF_INET6, words, &six) == 1 ? IPAddress(six) : nil
    }
    guard let address else { return nil }
    self = address
  }

  /// Parses an address in the form of proxies and URLs: in brackets or bare, with a port or without one.
  package init?(withPort text: Slice<UnsafeBufferPointer<UInt8>>) {
    let colon = UInt8(ascii: ":")
    if text.first == UInt8(ascii: "[") {
      guard let end = text.firstIndex(of: UInt8(ascii: "]")), Self.isPort(text[(end + 1)...]) else {
        return nil
      }
      self.init(text[(text.startIndex + 1)..<end])
      guard !isIPv4 else { return nil }
    } else if let first = text.firstIndex(of: colon), text.lastIndex(of: colon) == first {
      guard Self.isPort(text[first...]) else { return nil }
      self.init(text[..<first])
    } else {
      self.init(text)
    }
  }

  /// Whether the text is empty, or a colon and up to five digits.
  private static func isPort(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    guard let first = text.first else { return true }
    return first == UInt8(ascii: ":") && (2...6).contains(text.count)
      && text.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
  }

  package var isIPv4: Bool { high == 0 && low >> 32 == 0xffff }

  /// Whether it is an address of this machine's loopback interface.
  package var isLoopback: Bool { isIPv4 ? (low >> 24) & 0xff == 127 : high == 0 && low == 1 }

  /// Whether the address belongs to this machine or to a private network, such as a home's or an office's. Clients on
  /// the Internet cannot reach such an address, but a page in a browser on that network can.
  package var isPrivate: Bool { Self.privateRanges.contains { $0.contains(self) } }

  private static let privateRanges = [
    // RFC 1122, 1918, 3927 and 6598.
    "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10",
    "0.0.0.0/8",
    // RFC 4291 and 4193.
    "::1", "fe80::/10", "fc00::/7",
  ].map { AddressRange($0)! }

  package var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    if isIPv4 {
      var address = in_addr(s_addr: UInt32(truncatingIfNeeded: low).bigEndian)
      inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
    } else {
      var halves = (high.bigEndian, low.bigEndian)
      inet_ntop(AF_INET6, &halves, &text, socklen_t(text.count))
    }
    return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }
}

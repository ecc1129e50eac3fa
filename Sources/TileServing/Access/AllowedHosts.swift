package import ZigguratHTTPMessages

/// The names by which the server can be addressed.
///
/// A page of another site can resolve its own name to an address in the browser's local network (DNS rebinding). The
/// browser then lets it read the responses, because one name is one site. The browser still sends that name in `Host`.
/// Therefore, at addresses that are not public, the server accepts only names that an attacker cannot own.
package struct AllowedHosts: Sendable {
  private var names: Set<String> = []
  /// Suffixes of accepted names, each with its leading dot.
  private var endings: [String] = []
  private var hasAll = false

  /// - Parameter own: the names of this server: from `--host`, from the public URL, and the machine's host name.
  package init(own: [String]) {
    names = Set(own.map(Self.bare))
    names.insert("localhost")
  }

  /// Parses comma-separated names such as `images.example.org,*.example.org`. Returns `nil` if the text is invalid.
  package init?(_ text: String) {
    guard let names = AllowedHosts(own: []).adding(text) else { return nil }
    self = names
  }

  /// Returns these names and those of `other`.
  package func adding(_ other: AllowedHosts) -> AllowedHosts {
    var result = self
    result.names.formUnion(other.names)
    result.endings += other.endings
    result.hasAll = hasAll || other.hasAll
    return result
  }

  /// Returns these names and those of `text`: comma-separated `images.example.org`, `*.example.org`, or `*` for
  /// all. Returns `nil` if the text is invalid.
  package func adding(_ text: String) -> AllowedHosts? {
    var result = self
    for item in CommaSeparatedList.of(text) {
      let name = Self.bare(item)
      if item == "*" {
        result.hasAll = true
      } else if name.hasPrefix("*."), Self.isName(name.dropFirst(2)) {
        result.endings.append(String(name.dropFirst()))
      } else if Self.isName(name[...]) {
        result.names.insert(name)
      } else {
        return nil
      }
    }
    return result
  }

  private static func isName(_ text: Substring) -> Bool {
    (1...253).contains(text.utf8.count) && text.first != "." && !text.contains("..")
      && text.utf8.allSatisfy {
        switch $0 {
        case 0x30...0x39, 0x61...0x7a, 0x2d, 0x2e, 0x5f: true
        default: false
        }
      }
  }

  /// Returns the name in lower case and without a trailing dot.
  private static func bare(_ text: some StringProtocol) -> String {
    let text = text.lowercased()
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  /// Whether a request with this `Host` is accepted.
  /// - Parameters:
  ///   - host: the header's value, including port and blanks.
  ///   - address: returns the local address at which the request arrived. Called only if the name is not one of the
  ///     server's.
  package func admit(_ host: UnsafeBufferPointer<UInt8>, at address: () -> IPAddress?) -> Bool {
    let name = Self.name(in: host)
    // Browsers cannot map a name to a literal address, and other clients may omit the name.
    if hasAll || name.isEmpty || Self.isAddress(name) { return true }
    let text = Self.bare(String(decoding: name, as: UTF8.self))
    if names.contains(text) || text.hasSuffix(".localhost") || endings.contains(where: text.hasSuffix) {
      return true
    }
    guard let address = address() else { return true }
    // The operator of the network that this machine is a guest in can also assign names without a dot.
    if address.isLoopback { return false }
    return !address.isPrivate || !text.contains(".") || Self.privateEndings.contains(where: text.hasSuffix)
  }

  /// Top-level names that cannot be registered on the Internet (RFC 6762, RFC 8375, ICANN's resolution
  /// 2024.07.29.06).
  private static let privateEndings = [".local", ".home.arpa", ".internal"]

  /// Returns the host without blanks and port. Brackets of an IPv6 address are kept.
  private static func name(in host: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    var (start, end) = (0, host.count)
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    while start < end, isBlank(host[start]) { start += 1 }
    while end > start, isBlank(host[end - 1]) { end -= 1 }
    var at = end
    while at > start, (0x30...0x39).contains(host[at - 1]) { at -= 1 }
    if at > start, host[at - 1] == UInt8(ascii: ":") { end = at - 1 }
    return UnsafeBufferPointer(rebasing: host[start..<end])
  }

  /// Whether browsers parse the text as an IPv4 address, or as an IPv6 address in brackets (URL standard, "host
  /// parsing").
  private static func isAddress(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    if name[0] == UInt8(ascii: "[") { return name[name.count - 1] == UInt8(ascii: "]") }
    return name.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
  }
}

extension Response {
  /// Returns the response to a request whose `Host` is not a name of the server.
  package static func unknownHost(_ host: UnsafeBufferPointer<UInt8>) -> Response {
    let name = String(decoding: host, as: UTF8.self).filter { $0 != " " && $0 != "\t" }
    return Response(
      421, [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")],
      .bytes(
        Array(
          """
          this server does not go by the name '\(name)' at this address, so that no other site's page can read it; \
          serve with --allow-host NAME, or with --base-url, to allow the name\n
          """.utf8)))
  }
}

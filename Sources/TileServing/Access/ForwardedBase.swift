package import ZigguratHTTPMessages

/// The address by which clients reach the server, as stated by a proxy: `Forwarded` (RFC 7239), or else
/// `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-Prefix`.
///
/// Each proxy appends its value to a list, and the values before it are untrusted. Lists are therefore read from
/// their end, only as far as the proxies that wrote them are trusted.
struct ForwardedBase {
  /// `http` or `https`.
  let scheme: String
  let host: String
  /// Begins with a slash and does not end in one; empty for the host's root.
  let prefix: String

  var text: String { "\(scheme)://\(host)\(prefix)" }

  /// The headers that responses depend on if a proxy states the address.
  static let headers = [
    "Forwarded", "Host", "X-Forwarded-Host", "X-Forwarded-Prefix", "X-Forwarded-Proto",
  ]

  private static let maxLength = 4096
  private static let maxElements = 32

  /// Returns `nil` if no proxy states an address, or if a header is malformed or too long.
  ///
  /// - Parameters:
  ///   - header: returns a header's value, with all its lines joined.
  ///   - proxies: the trusted proxies.
  init?(_ header: (String) -> String?, _ proxies: TrustedProxies) {
    var (scheme, host): (String?, String?)
    if let forwarded = header("Forwarded") {
      guard let elements = Self.elements(forwarded) else { return nil }
      let element = Self.outermost(elements, proxies)
      scheme = element["proto"]
      host = element["host"]
    } else {
      guard let last = Self.last(of: ["X-Forwarded-Proto", "X-Forwarded-Host"], header) else { return nil }
      scheme = last[0]
      host = last[1]
    }
    guard let prefixes = Self.last(of: ["X-Forwarded-Prefix"], header) else { return nil }
    guard scheme != nil || host != nil || prefixes[0] != nil else { return nil }
    self.scheme = (scheme ?? "http").lowercased()
    // A proxy that forwards Host adds no other header.
    self.host = host ?? header("Host") ?? ""
    guard ["http", "https"].contains(self.scheme), ServerAddress.isHost(self.host.utf8) else { return nil }
    let path = BasePath(of: "\(self.scheme)://\(self.host)\(prefixes[0] ?? "")")
    guard path.isPlain, path.text.utf8.count <= 200, (prefixes[0] ?? "/").hasPrefix("/") else { return nil }
    prefix = path.text
  }

  /// Returns the last value of each list; `nil` if one is too long.
  private static func last(of names: [String], _ header: (String) -> String?) -> [String?]? {
    var values: [String?] = []
    for name in names {
      let text = header(name) ?? ""
      guard text.utf8.count <= maxLength else { return nil }
      let value = text.split(separator: ",").last.map { $0.trimming(" \t") }
      values.append(value.flatMap { $0.isEmpty ? nil : $0 })
    }
    return values
  }

  /// Returns the element of the proxy that clients connect to: the first one that is followed only by trusted
  /// proxies.
  private static func outermost(_ elements: [[String: String]], _ proxies: TrustedProxies) -> [String: String]
  {
    var at = elements.count - 1
    while at > 0, var node = elements[at]["for"],
      let address = node.withUTF8({ IPAddress(withPort: $0[...]) }), proxies.trusts(address)
    {
      at -= 1
    }
    return elements[at]
  }

  /// Returns the elements of `Forwarded`, each with its parameters by lowercase name (RFC 7239, section 4). Returns
  /// `nil` if the text is malformed, too long or empty.
  static func elements(_ text: String) -> [[String: String]]? {
    let bytes = Array(text.utf8)
    guard bytes.count <= maxLength else { return nil }
    var elements: [[String: String]] = [[:]]
    var at = 0
    func skipBlanks() { while at < bytes.count, bytes[at] == 0x20 || bytes[at] == 0x09 { at += 1 } }
    func token(_ isPart: (UInt8) -> Bool) -> String? {
      let start = at
      while at < bytes.count, isPart(bytes[at]) { at += 1 }
      return at > start ? String(decoding: bytes[start..<at], as: UTF8.self) : nil
    }
    while true {
      skipBlanks()
      guard let name = token(isTokenByte), at < bytes.count, bytes[at] == UInt8(ascii: "=") else {
        return nil
      }
      at += 1
      var value: String?
      if at < bytes.count, bytes[at] == UInt8(ascii: "\"") {
        var content: [UInt8] = []
        at += 1
        while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
          if bytes[at] == UInt8(ascii: "\\") { at += 1 }
          guard at < bytes.count else { return nil }
          content.append(bytes[at])
          at += 1
        }
        guard at < bytes.count else { return nil }
        at += 1
        value = String(validating: content, as: UTF8.self)
      } else {
        // Ports and IPv6 addresses must be quoted, but many proxies do not quote them.
        value = token { isTokenByte($0) || [0x3a, 0x5b, 0x5d].contains($0) }
      }
      guard let value, elements[elements.count - 1].updateValue(value, forKey: name.lowercased()) == nil
      else {
        return nil
      }
      skipBlanks()
      guard at < bytes.count else { return elements }
      switch bytes[at] {
      case UInt8(ascii: ";"): break
      case UInt8(ascii: ",") where elements.count < maxElements: elements.append([:])
      default: return nil
      }
      at += 1
    }
  }

  /// Whether the byte may be part of a token (RFC 9110, section 5.6.2).
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}

extension Substring {
  fileprivate func trimming(_ blanks: String) -> String {
    var text = self
    while let first = text.first, blanks.contains(first) { text.removeFirst() }
    while let last = text.last, blanks.contains(last) { text.removeLast() }
    return String(text)
  }
}

extension TileServer {
  /// Returns the address that a trusted proxy states for a request. Returns `nil` if there is none, if the server
  /// does not accept that name, or if its address is fixed.
  /// - Parameters:
  ///   - header: returns a header's value, with all its lines joined.
  ///   - address: returns the local address at which the request arrived.
  package func publicBase(_ header: (String) -> String?, at address: () -> IPAddress?) -> String? {
    guard access.readsForwardedBase, let base = ForwardedBase(header, access.proxies) else { return nil }
    var host = base.host
    return host.withUTF8({ access.hosts.admit($0, at: address) }) ? base.text : nil
  }

  /// Whether URLs in responses may depend on the headers of a proxy.
  package var readsForwardedBase: Bool { access.readsForwardedBase }
}

package import ZigguratHTTPMessages

/// The address by which clients reach the server, as a proxy states it: `Forwarded` (RFC 7239), or else
/// `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-Prefix`.
///
/// A proxy adds what it sees to the end of a list. What stands before that was sent by anybody, so lists are read from
/// their end, and no further than those who wrote them are trusted.
struct ForwardedBase {
  /// `http` or `https`.
  let scheme: String
  let host: String
  /// Begins with a slash and does not end in one; empty for the host's root.
  let prefix: String

  var text: String { "\(scheme)://\(host)\(prefix)" }

  /// The headers that answers depend on if a proxy states the address.
  static let headers = [
    "Forwarded", "Host", "X-Forwarded-Host", "X-Forwarded-Prefix", "X-Forwarded-Proto",
  ]

  private static let longest = 4096
  private static let mostElements = 32

  /// `nil` if no proxy states an address, or if a header is malformed or too long.
  ///
  /// - Parameters:
  ///   - header: a header's value, all lines of it as one.
  ///   - proxies: whose words count.
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
    // A proxy that passes Host on has nothing to add.
    self.host = host ?? header("Host") ?? ""
    guard ["http", "https"].contains(self.scheme), ServerAddress.isHost(self.host.utf8) else { return nil }
    let path = BasePath(of: "\(self.scheme)://\(self.host)\(prefixes[0] ?? "")")
    guard path.isPlain, path.text.utf8.count <= 200, (prefixes[0] ?? "/").hasPrefix("/") else { return nil }
    prefix = path.text
  }

  /// The last value of each list; nil if one is too long.
  private static func last(of names: [String], _ header: (String) -> String?) -> [String?]? {
    var values: [String?] = []
    for name in names {
      let text = header(name) ?? ""
      guard text.utf8.count <= longest else { return nil }
      let value = text.split(separator: ",").last.map { $0.trimming(" \t") }
      values.append(value.flatMap { $0.isEmpty ? nil : $0 })
    }
    return values
  }

  /// The element of the proxy that clients talk to: the first one behind which there are only trusted proxies.
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

  /// The elements of `Forwarded`, each with its parameters by their names in lower case (RFC 7239, section 4). Nil if it is
  /// malformed, too long, or empty.
  static func elements(_ text: String) -> [[String: String]]? {
    let bytes = Array(text.utf8)
    guard bytes.count <= longest else { return nil }
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
        // Ports and addresses of IPv6 are to be quoted, and many proxies do not.
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
      case UInt8(ascii: ",") where elements.count < mostElements: elements.append([:])
      default: return nil
      }
      at += 1
    }
  }

  /// RFC 9110, section 5.6.2.
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
  /// The address that a trusted proxy states for a request, if the server goes by that name; nil without one, and
  /// where the address is fixed.
  /// - Parameters:
  ///   - header: a header's value, all lines of it as one.
  ///   - address: where the request came in.
  package func publicBase(_ header: (String) -> String?, at address: () -> IPAddress?) -> String? {
    guard access.readsForwardedBase, let base = ForwardedBase(header, access.proxies) else { return nil }
    var host = base.host
    return host.withUTF8({ access.hosts.admit($0, at: address) }) ? base.text : nil
  }

  /// Whether URLs in answers may depend on what a proxy states.
  package var readsForwardedBase: Bool { access.readsForwardedBase }
}

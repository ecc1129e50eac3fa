/// The scheme, host and port of a store.
struct ObjectEndpoint: Hashable, Sendable {
  let isSecure: Bool
  /// The host, with the port if there is one.
  let host: String

  /// Parses `http://HOST` or `https://HOST`, with or without a port; nil for any other text. A path, a query or a name
  /// with a password is invalid.
  init?(_ text: String) {
    let text = text.hasSuffix("/") ? text.dropLast() : text[...]
    let scheme = ["http://", "https://"].first { text.hasPrefix($0) }
    guard let scheme else { return nil }
    let host = text.dropFirst(scheme.count)
    let allowed = host.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"),
        UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard !host.isEmpty, allowed else { return nil }
    isSecure = scheme == "https://"
    self.host = String(host)
  }

  private init(isSecure: Bool, host: String) {
    self.isSecure = isSecure
    self.host = host
  }

  /// Returns Amazon's endpoint in a region.
  static func amazon(_ region: RegionName) -> ObjectEndpoint {
    ObjectEndpoint(isSecure: true, host: "s3.\(region.text).amazonaws.com")
  }

  var scheme: String { isSecure ? "https" : "http" }

  var url: String { "\(scheme)://\(host)" }

  /// Whether the host is an IP address, which cannot follow the name of a bucket.
  var isNumeric: Bool {
    host.hasPrefix("[") || host.prefix { $0 != ":" }.allSatisfy { $0.isNumber || $0 == "." }
  }
}

/// The name of a region, as used in signatures.
struct RegionName: Hashable, Sendable {
  let text: String

  init?(_ text: String) {
    guard (1...63).contains(text.utf8.count),
      text.utf8.allSatisfy({
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
      })
    else { return nil }
    self.text = text
  }
}

/// The place of the bucket's name in a URL.
enum BucketStyle: String, CaseIterable, Sendable {
  /// `https://host/bucket/key`
  case path
  /// `https://bucket.host/key`
  case virtual
}

/// The credentials that sign requests. They contain only characters that are valid in a header.
struct ObjectCredentials: Hashable, Sendable {
  let accessKey: String
  let secretKey: String
  /// The token of temporary credentials.
  let sessionToken: String?

  init?(accessKey: String, secretKey: String, sessionToken: String?) {
    func isPrintable(_ text: String) -> Bool {
      !text.isEmpty && text.utf8.count <= 8192 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    }
    guard isPrintable(accessKey), isPrintable(secretKey), sessionToken.map(isPrintable) ?? true else {
      return nil
    }
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.sessionToken = sessionToken
  }
}

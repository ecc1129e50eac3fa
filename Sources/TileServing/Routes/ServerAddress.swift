import ZigguratHTTPMessages

/// The address by which clients reach the server: `--base-url`.
final class ServerAddress: Sendable {
  /// The prefix of every URL in a response, without a trailing slash; empty for root-relative URLs.
  let base: String
  /// The path of `base`, which request paths may begin with.
  let path: BasePath

  /// - Parameter url: the base URL, with or without a trailing slash; empty if not set.
  init(_ url: String) {
    base = url.hasSuffix("/") ? String(url.dropLast()) : url
    path = BasePath(of: url)
  }

  /// Calls `use` with the scheme and the rest of `Handler.absoluteBase`, without creating a string.
  /// - Parameter host: the header's value, if the client sent it.
  func withAbsoluteBase<Result>(
    host: UnsafeRawBufferPointer?,
    _ use: (_ scheme: UnsafeRawBufferPointer, _ rest: UnsafeRawBufferPointer) -> Result
  ) -> Result {
    if base.isEmpty, let host, Self.isHost(host) {
      let scheme: StaticString = "http://"
      return use(UnsafeRawBufferPointer(start: scheme.utf8Start, count: scheme.utf8CodeUnitCount), host)
    }
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    return base.utf8.withContiguousStorageIfAvailable { use(UnsafeRawBufferPointer($0), none) }
      ?? use(none, none)
  }

  /// Whether the text is a host with an optional port: no character could end a URL's authority (RFC 3986, section
  /// 3.2).
  static func isHost(_ text: some Collection<UInt8>) -> Bool {
    (1...255).contains(text.count)
      && text.allSatisfy {
        switch $0 {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x3a, 0x5b, 0x5d, 0x5f: true
        default: false
        }
      }
  }
}

extension Handler {
  /// The prefix of URLs that may be root-relative: `--base-url`, or with `auto` the address that a trusted proxy
  /// states; otherwise empty.
  var base: String { request.publicBase ?? context.address.base }

  /// The path of `base`.
  var pathPrefix: String { request.publicBase.map { BasePath(of: $0).text } ?? context.address.path.text }

  /// `base`, or else the address from the client's `Host` header; root-relative without it.
  var absoluteBase: String {
    guard base.isEmpty, let host = request.header("Host"), ServerAddress.isHost(host.utf8) else {
      return base
    }
    return "http://" + host
  }
}

import ZigguratHTTPMessages

/// The URL by which clients reach the server: `--base-url`.
final class ServerAddress: Sendable {
  /// In front of every URL in a response, without a slash at its end; empty for root-relative URLs.
  let base: String
  /// The path of `base`, which requests may have in front of theirs.
  let path: BasePath

  /// - Parameter url: with or without a slash at its end; empty for none.
  init(_ url: String) {
    base = url.hasSuffix("/") ? String(url.dropLast()) : url
    path = BasePath(of: url)
  }

  /// `Handler.absoluteBase` without a string.
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

  /// A name or an address with a port: nothing that could end a URL's authority (RFC 3986, section 3.2).
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
  /// In front of URLs that may be root-relative: `--base-url`, or with `auto` what a trusted proxy states; else empty.
  var base: String { request.publicBase ?? call.address.base }

  /// The path of `base`.
  var pathPrefix: String { request.publicBase.map { BasePath(of: $0).text } ?? call.address.path.text }

  /// `base`, or else what the client itself called the server; root-relative where it did not say.
  var absoluteBase: String {
    guard base.isEmpty, let host = request.header("Host"), ServerAddress.isHost(host.utf8) else {
      return base
    }
    return "http://" + host
  }
}

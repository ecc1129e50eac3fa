import ZigguratTileProtocols

/// The values of `Cache-Control` for responses with pixels.
struct CacheControlHeaders: Sendable {
  private let immutable: [CChar]
  private let revalidateValue: [CChar]

  /// The directives for a shared cache if the content may change. Two seconds are short enough that edits appear
  /// promptly, and long enough to merge the requests of many clients. If no server responds, the cache may serve
  /// stale content for ten minutes (RFC 5861). Servers tolerate an outage of their database for the same time.
  static let edge = "s-maxage=2, stale-if-error=600"

  /// The same lifetime for nginx. It counts whole seconds and keeps an entry of one second for up to two, so
  /// "s-maxage=2" would be three. The header must follow Cache-Control, because nginx reads the other directives of
  /// Cache-Control only if they come first.
  static let nginxOneSecond = (name: "X-Accel-Expires", value: "1")

  /// The directives for content with the generation in its URL. A lost purge is made up for after a day.
  private static let immutableAtEdge = "s-maxage=86400, stale-if-error=600"

  /// - Parameters:
  ///   - maxAge: seconds for which clients may reuse pixels if their URL contains no generation.
  ///   - isBehindEdge: whether a shared cache stores them, too. It would not store a `no-cache` response.
  init(maxAge: Int, isBehindEdge: Bool = false) {
    let directives =
      switch (maxAge, isBehindEdge) {
      case (0, false): "public, no-cache"
      case (0, true): "public, max-age=0, must-revalidate, \(Self.edge)"
      case (_, false): "public, max-age=\(maxAge)"
      case (_, true): "public, max-age=\(maxAge), \(Self.edge)"
      }
    revalidateValue = Array(directives.utf8CString)
    immutable = Array(
      "public, max-age=31536000, immutable\(isBehindEdge ? ", \(Self.immutableAtEdge)" : "")".utf8CString)
  }

  /// Calls `use` with the header's value, NUL-terminated.
  func with<Result>(_ lifetime: CacheLifetime, _ use: (UnsafePointer<CChar>) -> Result) -> Result {
    switch lifetime {
    case .immutable: immutable.withUnsafeBufferPointer { use($0.baseAddress!) }
    case .revalidate: revalidateValue.withUnsafeBufferPointer { use($0.baseAddress!) }
    }
  }
}

/// The cache lifetime of a response with an archive's pixels.
enum CacheLifetime {
  /// Unlimited: the URL contains the generation, which identifies every pixel.
  case immutable
  /// `--tile-max-age` seconds; if that is 0, every reuse is revalidated.
  case revalidate

  /// - Parameters:
  ///   - asked: the generation in the URL.
  ///   - mayChange: whether pixels may change under the same generation.
  init(_ generation: UInt64, asked: UInt64?, mayChange: Bool) {
    self = asked == generation && !mayChange ? .immutable : .revalidate
  }

  /// Returns the generation in the parameter `v` of a query as sent, without creating a string. The first one
  /// counts.
  static func generation(in query: UnsafeRawBufferPointer) -> UInt64? {
    var at = 0
    while at < query.count {
      var end = at
      while end < query.count, query[end] != UInt8(ascii: "&") { end += 1 }
      if end - at > 1, query[at + 1] == UInt8(ascii: "="),
        query[at] == UInt8(ascii: "v") || query[at] == DeprecatedNames.version
      {
        return hexadecimal(UnsafeRawBufferPointer(rebasing: query[(at + 2)..<end]))
      }
      at = end + 1
    }
    return nil
  }

  /// Returns `nil` if the text is not a lowercase hexadecimal number of at most 16 digits.
  private static func hexadecimal(_ text: some RandomAccessCollection<UInt8>) -> UInt64? {
    guard (1...16).contains(text.count) else { return nil }
    var value: UInt64 = 0
    for byte in text {
      switch byte {
      case 0x30...0x39: value = value << 4 | UInt64(byte - 0x30)
      case 0x61...0x66: value = value << 4 | UInt64(byte - 0x61 + 10)
      default: return nil
      }
    }
    return value
  }
}

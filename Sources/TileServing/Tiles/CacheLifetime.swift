import ZigguratTileProtocols

/// The values of Cache-Control for responses with pixels.
struct CacheWords: Sendable {
  private let pinned: [CChar]
  private let unpinned: [CChar]

  /// The directives to a shared cache for responses that may change. After two seconds nobody sees an edit late, and the
  /// requests of a crowd become one. If no server responds, the cache may use its copy for ten minutes (RFC 5861), as long as
  /// servers continue without their database.
  static let edge = "s-maxage=2, stale-if-error=600"

  /// The same for nginx, which counts whole seconds and keeps what has one for up to two: "s-maxage=2" would be three.
  /// Behind Cache-Control, of which it reads the rest before this alone.
  static let nginxMoment = (name: "X-Accel-Expires", value: "1")

  /// The same of what its URL pins: after a day a purge that never came is made up for.
  private static let pinnedEdge = "s-maxage=86400, stale-if-error=600"

  /// - Parameters:
  ///   - maxAge: seconds that pixels may be kept whose URL does not pin them.
  ///   - isBehindEdge: a shared cache keeps them, too, which would keep nothing that is `no-cache`.
  init(maxAge: Int, isBehindEdge: Bool = false) {
    let words =
      switch (maxAge, isBehindEdge) {
      case (0, false): "public, no-cache"
      case (0, true): "public, max-age=0, must-revalidate, \(Self.edge)"
      case (_, false): "public, max-age=\(maxAge)"
      case (_, true): "public, max-age=\(maxAge), \(Self.edge)"
      }
    unpinned = Array(words.utf8CString)
    pinned = Array(
      "public, max-age=31536000, immutable\(isBehindEdge ? ", \(Self.pinnedEdge)" : "")".utf8CString)
  }

  /// The header's value, with a NUL behind it.
  func with<Result>(_ lifetime: CacheLifetime, _ use: (UnsafePointer<CChar>) -> Result) -> Result {
    switch lifetime {
    case .pinned: pinned.withUnsafeBufferPointer { use($0.baseAddress!) }
    case .revalidated: unpinned.withUnsafeBufferPointer { use($0.baseAddress!) }
    }
  }
}

/// For how long an answer with an archive's pixels may be kept.
enum CacheLifetime {
  /// For ever: the URL names the generation, and that stands for every pixel.
  case pinned
  /// As long as `--tile-max-age` says; without it until the next request asks again.
  case revalidated

  /// - Parameters:
  ///   - asked: the generation that the URL names.
  ///   - mayChange: pixels may change while the generation stays.
  init(_ generation: UInt64, asked: UInt64?, mayChange: Bool) {
    self = asked == generation && !mayChange ? .pinned : .revalidated
  }

  /// The generation that `v=` names in a query as sent; read without making a string. Of two, the first counts.
  static func generation(in query: UnsafeRawBufferPointer) -> UInt64? {
    var at = 0
    while at < query.count {
      var end = at
      while end < query.count, query[end] != UInt8(ascii: "&") { end += 1 }
      if end - at > 1, query[at + 1] == UInt8(ascii: "="),
        query[at] == UInt8(ascii: "v") || query[at] == FormerNames.version
      {
        return hexadecimal(UnsafeRawBufferPointer(rebasing: query[(at + 2)..<end]))
      }
      at = end + 1
    }
    return nil
  }

  /// Returns the value of at most 16 hexadecimal digits in lower case; nil for other texts.
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

/// What Cache-Control says of answers with pixels.
struct CacheWords: Sendable {
  private static let pinned: StaticString = "public, max-age=31536000, immutable"
  private let unpinned: [CChar]

  /// - Parameter maxAge: seconds that pixels may be kept whose URL does not pin them.
  init(maxAge: Int) {
    unpinned = Array((maxAge == 0 ? "public, no-cache" : "public, max-age=\(maxAge)").utf8CString)
  }

  /// The header's value, with a NUL behind it.
  func with<Result>(_ lifetime: CacheLifetime, _ use: (UnsafePointer<CChar>) -> Result) -> Result {
    switch lifetime {
    case .pinned: use(UnsafeRawPointer(Self.pinned.utf8Start).assumingMemoryBound(to: CChar.self))
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

  /// The generation that `g=` names in a query as sent; read without making a string.
  static func generation(in query: UnsafeRawBufferPointer) -> UInt64? {
    var at = 0
    while at < query.count {
      var end = at
      while end < query.count, query[end] != UInt8(ascii: "&") { end += 1 }
      if end - at > 1, query[at] == UInt8(ascii: "g"), query[at + 1] == UInt8(ascii: "=") {
        return hexadecimal(UnsafeRawBufferPointer(rebasing: query[(at + 2)..<end]))
      }
      at = end + 1
    }
    return nil
  }

  /// Nil of what is no number of at most 16 digits in lower case.
  static func hexadecimal(_ text: some RandomAccessCollection<UInt8>) -> UInt64? {
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

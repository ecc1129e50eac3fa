/// The passwords in URLs such as `postgresql://USER:PASSWORD@HOST/DATABASE?password=PASSWORD`. No message, log or list
/// of processes may contain them.
package enum AddressSecrets {
  /// The text that replaces a password.
  private static let mask: [UInt8] = Array("***".utf8)
  /// The minimum length in bytes of a part of a password that is searched for in a message.
  private static let shortest = 3

  /// Returns a text without the passwords of URLs in it.
  package static func redacted(_ text: String) -> String {
    var (bytes, isChanged) = (Array(text.utf8), false)
    for range in ranges(in: bytes[...]).reversed() {
      bytes.replaceSubrange(range, with: mask)
      isChanged = true
    }
    return isChanged ? String(decoding: bytes, as: UTF8.self) : text
  }

  /// Returns a message about a URL without the URL's password. Parts of an unescaped password that were parsed as a
  /// host or port are removed, too.
  static func redacted(_ message: String, about url: String) -> String {
    let bytes = Array(url.utf8)
    var secrets: Set<String> = []
    for range in ranges(in: bytes[...]) {
      let secret = bytes[range]
      let separators = Array("@/:?#&=".utf8)
      for piece in [secret] + secret.split(whereSeparator: { separators.contains($0) }) {
        let text = String(decoding: piece, as: UTF8.self)
        secrets.insert(text)
        if let decoded = text.removingEscapes { secrets.insert(decoded) }
      }
    }
    var text = redacted(message)
    for secret in secrets.sorted(by: { $0.utf8.count > $1.utf8.count }) where secret.utf8.count >= shortest {
      text = text.replacing(secret, with: "***")
    }
    return text
  }

  /// Returns the ranges of passwords: in URLs, and after `password=` in libpq's other form (section 34.1.1.1 of
  /// PostgreSQL's manual).
  ///
  /// - Parameter isWhole: whether the text is one argument of a command line, which can contain blanks and quotation
  ///   marks.
  package static func ranges(in text: ArraySlice<UInt8>, isWhole: Bool = false) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var rest = text
    while let start = authority(in: rest) {
      ranges += Self.ranges(ofKeywords: rest[..<start])
      let tail = rest[start...]
      // Messages quote a URL, and the URL itself has no spaces or quotation marks.
      let end =
        isWhole
        ? tail.endIndex
        : tail.firstIndex { $0 <= 0x20 || $0 == UInt8(ascii: "'") || $0 == UInt8(ascii: "\"") }
          ?? tail.endIndex
      ranges += self.ranges(ofURL: tail[..<end], in: text)
      rest = text[end...]
    }
    return ranges + Self.ranges(ofKeywords: rest)
  }

  /// Returns the start of the first URL's authority: after `://`, or after PostgreSQL's scheme with any punctuation.
  private static func authority(in text: ArraySlice<UInt8>) -> Int? {
    let places = [
      text.firstRange(of: Array("://".utf8))?.upperBound,
      text.firstRange(of: Array("postgresql:".utf8))?.upperBound,
      text.firstRange(of: Array("postgresql//".utf8))?.upperBound,
      text.firstRange(of: Array("postgres:".utf8))?.upperBound,
    ]
    guard let first = places.compactMap({ $0 }).min() else { return nil }
    return text[first...].firstIndex { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":") } ?? first
  }

  /// Returns the ranges of passwords in a URL.
  /// - Parameter url: the end of `text`, from the authority of the URL on.
  private static func ranges(ofURL url: ArraySlice<UInt8>, in text: ArraySlice<UInt8>) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    // Up to the last `@`, because an unescaped password may contain one. Paths of web pages may have one, too.
    let isPage = ["http://", "https://"].contains {
      text[..<url.startIndex].reversed().starts(with: $0.utf8.reversed())
    }
    let authority = isPage ? url.prefix { $0 != UInt8(ascii: "/") } : url
    if let at = authority.lastIndex(of: UInt8(ascii: "@")),
      let colon = authority[..<at].firstIndex(of: UInt8(ascii: ":")), colon + 1 < at
    {
      ranges.append(colon + 1..<at)
    }
    let query = url[(ranges.last?.upperBound ?? url.startIndex)...]
    for field in query.split(whereSeparator: { "?&".utf8.contains($0) }) {
      guard let equals = field.firstIndex(of: UInt8(ascii: "=")), equals + 1 < field.endIndex else {
        continue
      }
      let name = String(decoding: field[..<equals], as: UTF8.self)
      if (name.removingEscapes ?? name).lowercased().hasSuffix("password") {
        ranges.append(equals + 1..<field.endIndex)
      }
    }
    return ranges
  }

  /// Returns the ranges of values in `password = 'VALUE'` among other keywords.
  private static func ranges(ofKeywords text: ArraySlice<UInt8>) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var rest = text
    while let name = rest.firstRange(of: Array("password".utf8)) {
      rest = rest[name.upperBound...]
      var value = rest.drop { $0 == 0x20 }
      guard value.first == UInt8(ascii: "=") else { continue }
      value = value.dropFirst().drop { $0 == 0x20 }
      let end: Int
      if value.first == UInt8(ascii: "'") {
        end = value.dropFirst().firstIndex(of: UInt8(ascii: "'")) ?? value.endIndex
        value = value.dropFirst()
      } else {
        end = value.firstIndex { $0 == 0x20 } ?? value.endIndex
      }
      if end > value.startIndex { ranges.append(value.startIndex..<end) }
      rest = rest[max(end, rest.startIndex)...]
    }
    return ranges
  }
}

extension String {
  /// The text with escapes such as `%40` decoded; nil if there are none.
  fileprivate var removingEscapes: String? {
    var (bytes, rest, isChanged): ([UInt8], Substring.UTF8View, Bool) = ([], self[...].utf8, false)
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let value = UInt8(String(Substring(rest.prefix(2))), radix: 16) {
        bytes.append(value)
        rest = rest.dropFirst(2)
        isChanged = true
      } else {
        bytes.append(byte)
      }
    }
    return isChanged ? String(decoding: bytes, as: UTF8.self) : nil
  }
}

/// The passwords in URLs such as `postgresql://USER:PASSWORD@HOST/DATABASE?password=PASSWORD`, which belong in no
/// message, log or list of processes.
package enum AddressSecrets {
  /// The text that replaces a password.
  private static let mask: [UInt8] = Array("***".utf8)
  /// Bytes of a piece of a password that is looked for in a message by itself.
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

  /// Returns a message about a URL without the URL's password, nor pieces of one that was not escaped and was taken for
  /// a host or port.
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

  /// Returns where passwords of URLs stand.
  package static func ranges(in text: ArraySlice<UInt8>) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var rest = text
    while let scheme = rest.firstRange(of: Array("://".utf8)) {
      let tail = rest[scheme.upperBound...]
      // A URL has no spaces or quotation marks, in which messages put it.
      let end =
        tail.firstIndex { $0 <= 0x20 || $0 == UInt8(ascii: "'") || $0 == UInt8(ascii: "\"") } ?? tail.endIndex
      let url = tail[..<end]
      // To the last, since whoever does not escape one in a password means that; paths of web pages may have one, too.
      let isPage = ["http", "https"].contains {
        text[..<scheme.lowerBound].reversed().starts(with: $0.utf8.reversed())
      }
      let authority = isPage ? url.prefix { $0 != UInt8(ascii: "/") } : url
      if let at = authority.lastIndex(of: UInt8(ascii: "@")),
        let colon = authority[..<at].firstIndex(of: UInt8(ascii: ":")), colon + 1 < at
      {
        ranges.append(colon + 1..<at)
      }
      var query = url[(ranges.last.map { max($0.upperBound, url.startIndex) } ?? url.startIndex)...]
      while let name = query.firstRange(of: Array("password=".utf8)) {
        let value = query[name.upperBound...]
        let stop = value.firstIndex(of: UInt8(ascii: "&")) ?? value.endIndex
        if stop > value.startIndex { ranges.append(value.startIndex..<stop) }
        query = value[stop...]
      }
      rest = text[end...]
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

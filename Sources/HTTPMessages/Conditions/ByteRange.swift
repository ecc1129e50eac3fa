/// What a Range header asks for of a body (RFC 9110, section 14).
package struct ByteRange: Hashable, Sendable {
  /// 200, 206 or 416.
  package let status: Int
  /// The bytes to send; none with 416.
  package let bytes: Range<Int>
  /// The Content-Range header's value, with 206 and 416.
  package let contentRange: String?

  /// - Parameters:
  ///   - header: of the request: `bytes=0-99`, `bytes=100-`, `bytes=-50`.
  ///   - tag: the body's strong entity tag.
  ///   - ifRange: the If-Range header: anything but the same tag makes the range count for nothing.
  package init(_ header: String, length: Int, tag: String, ifRange: String?) {
    (status, bytes, contentRange) =
      (ifRange == nil || ifRange == tag ? Self.part(header, length) : nil) ?? (200, 0..<length, nil)
  }

  /// Nil where the header counts for nothing: another unit, several parts, or no range at all.
  private static func part(_ header: String, _ length: Int) -> (Int, Range<Int>, String?)? {
    let header = header.filter { $0 != " " }
    // Units are not case-sensitive (RFC 9110, section 14.1).
    guard header.prefix(6).lowercased() == "bytes=", !header.contains(",") else { return nil }
    let ends = header.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
      return nil
    }
    // Digits that no Int holds are farther than any end.
    let (first, last) = (Int(ends[0]) ?? .max, Int(ends[1]) ?? .max)
    let asked: Range<Int>
    switch (ends[0].isEmpty, ends[1].isEmpty) {
    case (true, true): return nil
    case (true, false): asked = (length - min(last, length))..<length
    case (false, true): asked = min(first, length)..<length
    case (false, false):
      if first > last { return nil }
      asked = min(first, length)..<(last < length ? last + 1 : length)
    }
    if asked.isEmpty { return (416, 0..<0, "bytes */\(length)") }
    return (206, asked, "bytes \(asked.lowerBound)-\(asked.upperBound - 1)/\(length)")
  }
}

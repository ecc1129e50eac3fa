/// A check of the lines between the chunks of a body (RFC 9112, section 7.1). libmicrohttpd parses them leniently: it
/// accepts a bare LF as the end of one. Servers that do not could find another request in the same bytes.
package enum ChunkGuard {
  /// Whether the line before a chunk is malformed.
  ///
  /// Only a line that arrived together with the chunk's bytes can be checked. A line that arrived alone is overwritten
  /// by then, so that a request with chunks is also the last of its connection.
  /// - Parameter room: the body buffer's content before the given bytes, which belong to one chunk. If it is not empty,
  ///   a chunk begins behind it.
  package static func isMalformed(before room: UnsafeBufferPointer<UInt8>) -> Bool {
    guard !room.isEmpty else { return false }
    guard endsLine(room[...]) else { return true }
    var line = room.dropLast(2)
    // Another end of a line precedes the line.
    if let feed = line.lastIndex(of: 0x0a) {
      guard endsLine(room[...feed]) else { return true }
      line = line[(feed + 1)...]
    }
    // Extensions contain no control characters (RFC 9110, section 5.6).
    return line.contains { $0 != 0x09 && (0..<0x20).contains($0) || $0 == 0x7f }
  }

  private static func endsLine(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    text.last == 0x0a && text.dropLast().last == 0x0d
  }
}

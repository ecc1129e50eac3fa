/// Looks at the lines between the chunks of a body (RFC 9112, section 7.1), which the daemon reads leniently: it
/// takes a bare LF for the end of one. Servers that do not would find another request in the same bytes.
package enum ChunkGuard {
  /// Whether the line before a chunk is none.
  ///
  /// What came with the chunk's bytes is seen, a line that came alone is overwritten by then; so a request with
  /// chunks is also the last of its connection.
  /// - Parameter room: what lies in the memory for the body before the bytes that are given, which are of one chunk;
  ///   where there is something, a chunk begins behind it.
  package static func isMalformed(before room: UnsafeBufferPointer<UInt8>) -> Bool {
    guard !room.isEmpty else { return false }
    guard endsLine(room[...]) else { return true }
    var line = room.dropLast(2)
    // Behind the one before it stands another end of a line.
    if let feed = line.lastIndex(of: 0x0a) {
      guard endsLine(room[...feed]) else { return true }
      line = line[(feed + 1)...]
    }
    // Extensions hold no controls (RFC 9110, section 5.6).
    return line.contains { $0 != 0x09 && (0..<0x20).contains($0) || $0 == 0x7f }
  }

  private static func endsLine(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    text.last == 0x0a && text.dropLast().last == 0x0d
  }
}

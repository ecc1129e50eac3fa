/// Looks at the lines between the chunks of a body (RFC 9112, section 7.1), which the daemon reads leniently: it
/// takes a bare LF for the end of one. Servers that do not would find another request in the same bytes.
enum ChunkGuard {
  /// Whether the line before a chunk is none.
  ///
  /// What came with the chunk's bytes is seen, a line that came alone is overwritten by then; so a request with
  /// chunks is also the last of its connection.
  /// - Parameters:
  ///   - data: the bytes that the daemon gives, of one chunk.
  ///   - start: where the daemon's memory for the body begins. Where `data` lies behind it, a chunk begins there.
  static func isMalformed(before data: UnsafePointer<CChar>, from start: UnsafePointer<CChar>) -> Bool {
    guard data > start else { return false }
    let room = UnsafeBufferPointer(start: start, count: data - start)
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

  private static func endsLine(_ text: Slice<UnsafeBufferPointer<CChar>>) -> Bool {
    text.last == 0x0a && text.dropLast().last == 0x0d
  }
}

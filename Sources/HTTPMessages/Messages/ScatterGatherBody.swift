/// A body in one piece or several that are sent from where they were created. It keeps their owners until it is sent.
// The pieces point into `kept` and `frames`, which do not change after the initializer.
package final class ScatterGatherBody: @unchecked Sendable {
  package let pieces: [UnsafeRawBufferPointer]
  /// The length of all pieces together in bytes.
  package let count: Int
  private let frames: UnsafeMutableRawBufferPointer?
  private let kept: [any AnyObject & Sendable]

  /// Creates a body of one piece.
  package init(_ piece: UnsafeRawBufferPointer, keeping kept: [any AnyObject & Sendable]) {
    pieces = piece.isEmpty ? [] : [piece]
    count = piece.count
    frames = nil
    self.kept = kept
  }

  /// Creates a body of parts, each preceded by its length in bytes: 4 bytes, big-endian.
  /// - Parameters:
  ///   - first: the first part, copied.
  ///   - parts: the others, which are not copied.
  package init(first: [UInt8], parts: [UnsafeRawBufferPointer], keeping kept: [any AnyObject & Sendable]) {
    self.kept = kept
    let frames = UnsafeMutableRawBufferPointer.allocate(
      byteCount: 4 + first.count + 4 * parts.count, alignment: 1)
    var end = 0
    func append(length: Int) {
      frames.storeBytes(of: UInt32(length).bigEndian, toByteOffset: end, as: UInt32.self)
      end += 4
    }
    append(length: first.count)
    UnsafeMutableRawBufferPointer(rebasing: frames[4...]).copyBytes(from: first)
    end += first.count
    var pieces: [UnsafeRawBufferPointer] = []
    var start = 0
    for part in parts {
      append(length: part.count)
      pieces.append(UnsafeRawBufferPointer(rebasing: frames[start..<end]))
      start = end
      // libmicrohttpd accepts no empty piece.
      if !part.isEmpty { pieces.append(part) }
    }
    if start < end { pieces.append(UnsafeRawBufferPointer(rebasing: frames[start..<end])) }
    self.frames = frames
    self.pieces = pieces
    count = pieces.reduce(0) { $0 + $1.count }
  }

  /// Returns the pieces of a range, cut at its ends.
  package func pieces(in range: Range<Int>) -> [UnsafeRawBufferPointer] {
    var start = 0
    return pieces.compactMap { piece in
      defer { start += piece.count }
      let part = range.clamped(to: start..<start + piece.count)
      return part.isEmpty
        ? nil : UnsafeRawBufferPointer(rebasing: piece[part.lowerBound - start..<part.upperBound - start])
    }
  }

  deinit { frames?.deallocate() }
}

/// A body that lies where it was made, in one piece or in several, and what keeps it there until it is sent.
// The pieces point into what is kept and into `frames`, none of which changes once this is made.
package final class GatheredBytes: @unchecked Sendable {
  package let pieces: [UnsafeRawBufferPointer]
  /// Of all pieces together.
  package let count: Int
  private let frames: UnsafeMutableRawBufferPointer?
  private let kept: [any AnyObject & Sendable]

  /// A body of one piece.
  package init(_ piece: UnsafeRawBufferPointer, keeping kept: [any AnyObject & Sendable]) {
    pieces = piece.isEmpty ? [] : [piece]
    count = piece.count
    frames = nil
    self.kept = kept
  }

  /// A body of parts, each of them preceded by its length: 4 bytes, big-endian.
  /// - Parameters:
  ///   - first: the first part, copied.
  ///   - parts: the others, which stay where they are.
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
      // The daemon takes no piece of no bytes.
      if !part.isEmpty { pieces.append(part) }
    }
    if start < end { pieces.append(UnsafeRawBufferPointer(rebasing: frames[start..<end])) }
    self.frames = frames
    self.pieces = pieces
    count = pieces.reduce(0) { $0 + $1.count }
  }

  /// Those of the pieces, cut where needed, that `range` lies in.
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

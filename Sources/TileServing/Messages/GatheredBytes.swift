import TileStorage

/// A body that lies in pieces: frames made for it and slices of an archive's mapping, which stays mapped
/// until the body is sent.
///
/// Each part is preceded by its length, 4 bytes, big-endian.
// The pieces point into `frames` and the mapping, neither of which changes once this is made.
package final class GatheredBytes: @unchecked Sendable {
  package let pieces: [UnsafeRawBufferPointer]
  /// Of all pieces together.
  package let count: Int
  private let frames: UnsafeMutableRawBufferPointer
  private let archive: SZIArchive
  private let hold: HeldMemory.Hold?

  /// - Parameters:
  ///   - first: the first part, copied.
  ///   - parts: slices of the archive's mapping.
  ///   - hold: what the client holds as long as the body is not sent.
  init(
    first: [UInt8], parts: [UnsafeRawBufferPointer], of archive: SZIArchive, _ hold: HeldMemory.Hold? = nil
  ) {
    (self.archive, self.hold) = (archive, hold)
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
    (self.frames, self.pieces) = (frames, pieces)
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

  deinit { frames.deallocate() }
}

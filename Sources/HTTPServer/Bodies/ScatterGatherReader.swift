import ZigguratCMicroHTTPD
import ZigguratHTTPMessages
import ZigguratTileServing

/// Sends a body from where it lies.
final class ScatterGatherReader {
  /// The maximum number of pieces in the table. The daemon copies the table of a response's pieces, 16 bytes each, into
  /// its connection's memory, and ends the process if that is full (0.9.75). Only the memory of the response's head is
  /// certainly free then. The head has more bytes than this many pieces: type, tag, length and the fields of every
  /// response.
  private static let maxInTable = 16
  /// Bytes that are copied at a time.
  private static let block = 65536

  private let body: ScatterGatherBody
  private let pieces: [UnsafeRawBufferPointer]
  /// The piece that is read next, and where it begins.
  private var (next, start) = (0, 0)

  private init(_ body: ScatterGatherBody, _ pieces: [UnsafeRawBufferPointer]) {
    self.body = body
    self.pieces = pieces
  }

  /// An answer with that part of the body: of few pieces they are sent from where they are, of more through a
  /// buffer.
  static func response(_ body: ScatterGatherBody, _ range: Range<Int>) -> OpaquePointer? {
    let pieces = body.pieces(in: range)
    if pieces.count == 1 {
      return retained(body) {
        MHD_create_response_from_buffer_with_free_callback_cls(
          range.count, UnsafeMutableRawPointer(mutating: pieces[0].baseAddress),
          { Unmanaged<ScatterGatherBody>.fromOpaque($0!).release() }, $0)
      }
    }
    guard pieces.count > maxInTable else {
      var table = pieces.map { MHD_IoVec(iov_base: $0.baseAddress, iov_len: $0.count) }
      return retained(body) {
        MHD_create_response_from_iovec(
          &table, UInt32(table.count), { Unmanaged<ScatterGatherBody>.fromOpaque($0!).release() }, $0)
      }
    }
    return retained(ScatterGatherReader(body, pieces)) {
      MHD_create_response_from_callback(
        UInt64(range.count), block,
        { reader, position, room, size in
          guard let reader, let room else { return -2 }
          return Unmanaged<ScatterGatherReader>.fromOpaque(reader)._withUnsafeGuaranteedRef {
            $0.read(at: Int(position), into: UnsafeMutableRawBufferPointer(start: room, count: size))
          }
        }, $0, { Unmanaged<ScatterGatherReader>.fromOpaque($0!).release() })
    }
  }

  /// -2 breaks the answer off (MHD_CONTENT_READER_END_WITH_ERROR).
  private func read(at position: Int, into room: UnsafeMutableRawBufferPointer) -> Int {
    // The daemon goes forward only; it costs nothing not to depend on that.
    if position < start { (next, start) = (0, 0) }
    var filled = 0
    while next < pieces.count, filled < room.count {
      let piece = pieces[next]
      let rest = piece.dropFirst(position + filled - start).prefix(room.count - filled)
      UnsafeMutableRawBufferPointer(rebasing: room[filled...]).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: rest))
      filled += rest.count
      if position + filled < start + piece.count { break }
      start += piece.count
      next += 1
    }
    return filled > 0 ? filled : -2
  }
}

/// Creates a response that keeps an object, which its last callback releases.
/// - Parameter create: is given the object's context; returns nil if there is no memory.
func retained<Object: AnyObject>(
  _ object: Object, _ create: (UnsafeMutableRawPointer) -> OpaquePointer?
) -> OpaquePointer? {
  let owner = Unmanaged.passRetained(object)
  let response = create(owner.toOpaque())
  if response == nil { owner.release() }
  return response
}

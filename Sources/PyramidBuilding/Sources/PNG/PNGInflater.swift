import TileStorage
import ZigguratCISAL

/// The pixel data of a PNG file as they inflate, chunk by chunk, up to their end or to the first damage.
final class PNGInflater {
  /// Why nothing more comes; nil while the data are sound, and at their end.
  private(set) var failure: SourceDamage?
  private let chunks: PNGChunkReader
  private let state: UnsafeMutablePointer<inflate_state>

  /// - Parameter chunks: a file's, at its first chunk of pixel data.
  init(_ chunks: PNGChunkReader) {
    self.chunks = chunks
    state = .allocate(capacity: 1)
    isal_inflate_init(state)
    state.pointee.crc_flag = UInt32(ISAL_ZLIB)
    state.pointee.avail_in = 0
  }

  deinit { state.deallocate() }

  /// - Returns: how many bytes there were; fewer than `count` at the end of the data, or where they are damaged.
  func inflate(to out: UnsafeMutablePointer<UInt8>, count: Int) -> Int {
    var done = 0
    while done < count, failure == nil, state.pointee.block_state != ISAL_BLOCK_FINISH {
      // ISA-L counts in 32 bits.
      let size = min(count - done, 1 << 30)
      state.pointee.next_out = out + done
      state.pointee.avail_out = UInt32(size)
      while state.pointee.avail_out > 0, failure == nil, state.pointee.block_state != ISAL_BLOCK_FINISH {
        step()
      }
      done += size - Int(state.pointee.avail_out)
    }
    return done
  }

  private func step() {
    let roomBefore = state.pointee.avail_out
    do throws(BuildError) {
      if state.pointee.avail_in == 0 { try moreInput() }
    } catch {
      failure =
        chunks.hasEnded
        ? SourceDamage(.truncated, "the PNG file is cut off") : SourceDamage(.error, error.reason)
      return
    }
    let hadInput = state.pointee.avail_in > 0
    let code = isal_inflate(state)
    if code == ISAL_INCORRECT_CHECKSUM {
      failure = SourceDamage(.error, "the checksum of the PNG file's pixel data does not match")
    } else if code != ISAL_DECOMP_OK {
      failure = SourceDamage(.error, "the PNG file's pixel data are damaged")
    } else if !hadInput, state.pointee.avail_out == roomBefore,
      state.pointee.block_state != ISAL_BLOCK_FINISH
    {
      failure = SourceDamage(.error, "the PNG file's pixel data end early")
    }
  }

  /// Sets the next bytes of the IDAT chunks as input; none when the last has been read.
  private func moreInput() throws(BuildError) {
    while chunks.name == PNGChunk.data {
      let bytes = try chunks.part()
      if bytes.count > 0 {
        state.pointee.next_in = bytes.baseAddress
        state.pointee.avail_in = UInt32(bytes.count)
        return
      }
      try chunks.next()
    }
  }
}

import ZigguratCISAL

/// Inflates a zlib stream that comes in parts, and checks its checksum (RFC 1950, section 2.2). For one thread at a
/// time.
final class ZlibInflater {
  /// The result of one step.
  enum Step {
    case sound
    case damaged
    /// The checksum does not match.
    case mismatched
    /// There was neither input nor output: the stream ends early.
    case starved
  }

  private let state: UnsafeMutablePointer<inflate_state>

  init() {
    state = .allocate(capacity: 1)
    begin()
  }

  deinit { state.deallocate() }

  /// Begins with another stream.
  func begin() {
    isal_inflate_init(state)
    state.pointee.crc_flag = UInt32(ISAL_ZLIB)
    state.pointee.avail_in = 0
  }

  /// Whether the last byte has been inflated.
  var isFinished: Bool { state.pointee.block_state == ISAL_BLOCK_FINISH }

  /// Whether the input that was given is used up.
  var needsInput: Bool { state.pointee.avail_in == 0 }

  /// - Parameter bytes: memory that stays unchanged until `needsInput`.
  func give(_ bytes: UnsafeMutableBufferPointer<UInt8>) {
    state.pointee.next_in = bytes.baseAddress
    state.pointee.avail_in = UInt32(bytes.count)
  }

  /// Inflates at most `count` bytes, fewer than 2³².
  ///
  /// - Returns: how many there were.
  func step(to out: UnsafeMutablePointer<UInt8>, count: Int) -> (Step, count: Int) {
    state.pointee.next_out = out
    state.pointee.avail_out = UInt32(count)
    let hadInput = !needsInput
    let code = isal_inflate(state)
    let done = count - Int(state.pointee.avail_out)
    switch code {
    case ISAL_DECOMP_OK: return (hadInput || done > 0 || isFinished ? .sound : .starved, done)
    case ISAL_INCORRECT_CHECKSUM: return (.mismatched, done)
    default: return (.damaged, done)
    }
  }
}

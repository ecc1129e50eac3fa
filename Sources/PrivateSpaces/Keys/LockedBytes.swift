import ZigguratCSodium

/// Secret bytes in memory that is never swapped out, not dumped, between guard pages, read-only once
/// written, and wiped when the last owner lets go.
final class LockedBytes: Sendable {
  // Written before the initialiser returns, then read-only by the memory's own protection: safe to share.
  nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

  /// - Parameters:
  ///   - count: room for `fill`, above 0.
  ///   - fill: writes the secret and returns how many bytes of the room it takes.
  init<Failure: Error>(
    capacity: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) {
    Sodium.require()
    guard let base = sodium_malloc(capacity) else {
      preconditionFailure("no memory can be had for a key of \(capacity) bytes")
    }
    // Where the system grants no locked memory, `sodium_malloc` goes on without; a retry tells no more.
    do throws(Failure) {
      let count = try fill(UnsafeMutableRawBufferPointer(start: base, count: capacity))
      bytes = UnsafeRawBufferPointer(start: base, count: count)
    } catch {
      sodium_free(base)
      throw error
    }
    sodium_mprotect_readonly(base)
  }

  static func random(_ count: Int) -> LockedBytes {
    LockedBytes(capacity: count) { (room) throws(Never) in
      Sodium.fillRandom(room)
      return count
    }
  }

  /// Before the last owner lets go; whoever still reads finds zeros.
  func wipe() {
    let base = UnsafeMutableRawPointer(mutating: bytes.baseAddress!)
    sodium_mprotect_readwrite(base)
    sodium_memzero(base, bytes.count)
    sodium_mprotect_readonly(base)
  }

  deinit { sodium_free(UnsafeMutableRawPointer(mutating: bytes.baseAddress!)) }

  /// In a time that tells nothing of the bytes.
  static func == (a: LockedBytes, b: LockedBytes) -> Bool {
    a.bytes.count == b.bytes.count && sodium_memcmp(a.base, b.base, a.bytes.count) == 0
  }

  var base: UnsafePointer<UInt8> { bytes.baseAddress!.assumingMemoryBound(to: UInt8.self) }
}

import ZigguratCSodium

/// Secret bytes in memory that is never swapped out or dumped. It is between guard pages, read-only after it is
/// written, and wiped when the last owner releases it.
final class LockedBytes: Sendable {
  // Written before the initializer returns, and then read-only by memory protection, so it is safe to share.
  nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

  /// - Parameters:
  ///   - capacity: the room for `fill` in bytes, above 0.
  ///   - fill: writes the secret, and returns its number of bytes.
  init<Failure: Error>(
    capacity: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) {
    Sodium.require()
    guard let base = sodium_malloc(capacity) else {
      preconditionFailure("no memory can be had for a key of \(capacity) bytes")
    }
    // If the system grants no locked memory, `sodium_malloc` continues without it. A retry would not reveal that.
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

  /// Wipes the bytes before the last owner releases them. Other readers find zeros.
  func wipe() {
    let base = UnsafeMutableRawPointer(mutating: bytes.baseAddress!)
    sodium_mprotect_readwrite(base)
    sodium_memzero(base, bytes.count)
    sodium_mprotect_readonly(base)
  }

  deinit { sodium_free(UnsafeMutableRawPointer(mutating: bytes.baseAddress!)) }

  /// Compares two secrets in a time that reveals nothing about the bytes.
  static func == (a: LockedBytes, b: LockedBytes) -> Bool {
    a.bytes.count == b.bytes.count && sodium_memcmp(a.base, b.base, a.bytes.count) == 0
  }

  var base: UnsafePointer<UInt8> { bytes.baseAddress!.assumingMemoryBound(to: UInt8.self) }
}

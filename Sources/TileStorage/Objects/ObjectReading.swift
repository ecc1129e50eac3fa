import Glibc

/// A reader of parts of objects in one bucket. It never blocks. It calls `done` once, on a thread of the store's own,
/// which must not block. If no request is sent, `done` may be called before the function returns.
package protocol ObjectReading: Sendable {
  /// Reads the bytes of a range, all of them and from that version.
  /// - Parameter deadline: the time at which `done` is called at the latest, or little later.
  func read(
    _ version: ObjectVersion, _ range: Range<Int>, by deadline: ContinuousClock.Instant,
    _ done: @escaping @Sendable (Result<ObjectBytes, ObjectError>) -> Void)

  /// Reads the last bytes of the object that now is under the key, at most `count`, and identifies its version.
  func readEnd(
    ofKey key: String, atMost count: Int, by deadline: ContinuousClock.Instant,
    _ done: @escaping @Sendable (Result<ObjectTail, ObjectError>) -> Void)
}

/// Bytes of an object in their own memory.
package final class ObjectBytes: Sendable {
  // Sendable: written before it is shared, freed after its last reference.
  nonisolated(unsafe) package let bytes: UnsafeRawBufferPointer

  private let whole: ObjectBytes?

  /// Takes ownership of memory that came from `malloc`.
  package init(owning memory: UnsafeMutableRawBufferPointer) {
    bytes = UnsafeRawBufferPointer(memory)
    whole = nil
  }

  /// Refers to a part of other bytes, and keeps these.
  init(_ part: UnsafeRawBufferPointer, of whole: ObjectBytes) { (bytes, self.whole) = (part, whole) }

  /// Copies bytes; nil if there is no memory.
  package init?(copying bytes: some Collection<UInt8>) {
    // malloc may return NULL for a size of 0.
    guard let memory = malloc(max(bytes.count, 1)) else { return nil }
    let buffer = UnsafeMutableRawBufferPointer(start: memory, count: bytes.count)
    buffer.copyBytes(from: bytes)
    self.bytes = UnsafeRawBufferPointer(buffer)
    whole = nil
  }

  deinit { if whole == nil { free(UnsafeMutableRawPointer(mutating: bytes.baseAddress)) } }
}

/// The last bytes of an object.
package struct ObjectTail: Sendable {
  package let version: ObjectVersion
  package let bytes: ObjectBytes

  package init(version: ObjectVersion, bytes: ObjectBytes) {
    self.version = version
    self.bytes = bytes
  }
}

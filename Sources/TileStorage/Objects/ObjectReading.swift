import Glibc

/// Reads parts of objects of one bucket. Never blocks: `done` is called once, on a thread of the store's own, which must
/// not be held up; maybe before the call returns where nothing is asked of the store.
package protocol ObjectReading: Sendable {
  /// The bytes of a range, all of them and of that version.
  /// - Parameter deadline: when `done` is called at the latest, or little later.
  func read(
    _ pin: ObjectPin, _ range: Range<Int>, by deadline: ContinuousClock.Instant,
    _ done: @escaping @Sendable (Result<ObjectBytes, ObjectFault>) -> Void)

  /// The last bytes of the object that now is under the key, at most so many, and which version of it that is.
  func readEnd(
    ofKey key: String, atMost count: Int, by deadline: ContinuousClock.Instant,
    _ done: @escaping @Sendable (Result<ObjectEnd, ObjectFault>) -> Void)
}

/// Bytes of an object in memory of their own.
package final class ObjectBytes: Sendable {
  // Sendable: written before it is shared, freed when nobody has it any more.
  nonisolated(unsafe) package let bytes: UnsafeRawBufferPointer

  private let whole: ObjectBytes?

  /// Takes over memory that came from `malloc`.
  package init(owning memory: UnsafeMutableRawBufferPointer) {
    bytes = UnsafeRawBufferPointer(memory)
    whole = nil
  }

  /// A part of others, which are held as long as this.
  init(_ part: UnsafeRawBufferPointer, of whole: ObjectBytes) { (bytes, self.whole) = (part, whole) }

  /// Nil where there is no memory.
  package init?(copying bytes: some Collection<UInt8>) {
    // malloc may answer nothing for nothing.
    guard let memory = malloc(max(bytes.count, 1)) else { return nil }
    let buffer = UnsafeMutableRawBufferPointer(start: memory, count: bytes.count)
    buffer.copyBytes(from: bytes)
    self.bytes = UnsafeRawBufferPointer(buffer)
    whole = nil
  }

  deinit { if whole == nil { free(UnsafeMutableRawPointer(mutating: bytes.baseAddress)) } }
}

/// The last bytes of an object.
package struct ObjectEnd: Sendable {
  package let pin: ObjectPin
  package let bytes: ObjectBytes

  package init(pin: ObjectPin, bytes: ObjectBytes) { (self.pin, self.bytes) = (pin, bytes) }
}

/// A body that is created while it is sent.
package protocol BodyStream: AnyObject, Sendable {
  /// Copies the available bytes into `room`.
  /// - Parameter sleep: called if no bytes are available, before a wake-up is possible; returns the function that wakes
  ///   the sender.
  /// - Returns: the number of bytes; 0 after `sleep` was called; nil at the end.
  func read(into room: UnsafeMutableRawBufferPointer, sleep: () -> @Sendable () -> Void) -> Int?

  /// Notes that the client is gone.
  func close()
}

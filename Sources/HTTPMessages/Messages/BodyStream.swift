/// A body that is made while it is sent.
package protocol BodyStream: AnyObject, Sendable {
  /// Copies what there is to send into `room`.
  /// - Parameter sleep: called where there is nothing, before anyone may wake; gives what wakes.
  /// - Returns: bytes; 0 after `sleep` was called; nil at the end.
  func read(into room: UnsafeMutableRawBufferPointer, sleep: () -> @Sendable () -> Void) -> Int?

  /// The reader is gone.
  func close()
}

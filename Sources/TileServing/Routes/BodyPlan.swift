package import ZigguratHTTPMessages

/// The use of the body of a request that may change something, decided by its headers alone.
package enum BodyPlan: Sendable {
  /// Answered at once; the connection ends, since a body that nobody reads would be taken for the next
  /// request.
  case refuse(Response)
  /// Read into `Request.body` and answered on a worker; a body of more than `limit` bytes is answered 413.
  case collect(limit: Int = 65536, answer: @Sendable (Request) -> Reply)
  /// Given away piece by piece as it comes.
  case stream(any BodyReceiver)
}

/// Takes a body that is too large for memory.
///
/// Calls come one after the other, from several threads: `receive` from the event loop, the others from a
/// worker. Either `answer` or `abandon` is the last one.
package protocol BodyReceiver: AnyObject, Sendable {
  /// Takes the next bytes. Runs on the event loop: nothing here may wait for a disk or a lock.
  func receive(_ bytes: UnsafeRawBufferPointer) -> BodyStep

  /// Brings to the disk what was received; the client waits meanwhile. A failure is told by the next
  /// `receive` and by `answer`.
  func drain()

  /// The body is whole, or the receiver wanted no more of it.
  func answer(_ request: Request) -> Response

  /// The connection broke before the body was whole; nobody is there to be answered.
  func abandon()
}

/// How a body goes on.
package enum BodyStep: Sendable {
  case more
  /// No more before `drain` has returned.
  case drain
  /// The rest is discarded, within limits, and then the request is answered: HTTP has no response in the middle of a
  /// body.
  case stop
}

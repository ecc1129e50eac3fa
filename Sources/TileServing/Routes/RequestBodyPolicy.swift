package import ZigguratHTTPMessages

/// The handling of the body of a request that may change something. It is chosen from the headers alone.
package enum RequestBodyPolicy: Sendable {
  /// Responds immediately and closes the connection, because the unread body would be parsed as the next request.
  case refuse(Response)
  /// Reads the body into `Request.body` and responds on a worker. A body of more than `limit` bytes gets 413.
  case collect(limit: Int = 65536, on: Queue = .edits, answer: @Sendable (Request) -> Reply)
  /// Passes the body on in pieces as it arrives.
  case stream(any BodyReceiver)

  /// The workers that respond.
  package enum Queue: Sendable {
    /// For changes that may wait for a lock or a database.
    case edits
    /// For uploads, which never wait for an edit.
    case uploads
  }

  /// The workers that respond, or write the pieces.
  package var queue: Queue {
    switch self {
    case .collect(_, let queue, _): queue
    case .refuse: .edits
    case .stream: .uploads
    }
  }
}

/// Receives a body that is too large for memory.
///
/// Calls are sequential but come from several threads: `receive` from the event loop, the others from a worker.
/// Either `answer` or `abandon` is the last one.
package protocol BodyReceiver: AnyObject, Sendable {
  /// Takes the next bytes. Runs on the event loop and must not wait for a disk or a lock.
  func receive(_ bytes: UnsafeRawBufferPointer) -> BodyStep

  /// Writes the received bytes to the disk while the client waits. A failure is reported by the next `receive` and
  /// by `answer`.
  func drain()

  /// Returns the response when the body is complete or the receiver has stopped.
  func answer(_ request: Request) -> Response

  /// Cleans up after the connection broke before the body was complete.
  func abandon()
}

/// The next step of receiving a body.
package enum BodyStep: Sendable {
  case more
  /// Calls `drain` before it receives more.
  case drain
  /// Discards the rest of the body, within limits, before it responds. HTTP has no response in the middle of a
  /// body.
  case stop
}

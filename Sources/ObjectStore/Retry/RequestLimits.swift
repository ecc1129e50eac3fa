/// The timeouts and the number of attempts of a request of `ObjectWriter`. Reads of tiles have a `RequestPolicy`.
package struct RequestLimits: Sendable {
  /// The maximum number of attempts after errors that may be temporary.
  package var tries: Int
  /// The maximum pause before the second attempt. It is doubled before each further attempt.
  package var pause = Duration.milliseconds(400)
  /// The timeout of opening a connection.
  package var connecting = Duration.seconds(5)
  /// The maximum time without a byte in either direction.
  package var silence: Duration
  /// The time from the first byte of a response until `leastRate` applies.
  package var grace = Duration.seconds(2)
  /// The minimum rate of a response in bytes per second. A page of a list has about 250 bytes per object.
  package var leastRate = 8 << 10
  /// The timeout of a request without a body, from its start to the end of its response.
  package var whole = Duration.seconds(60)
  /// The minimum rate of an upload in bytes per second.
  package var leastUpload = 32 << 10

  /// The limits for a server, which repeats requests itself and must recover within 5 seconds of an outage's end.
  package static let server = RequestLimits(tries: 2, silence: .seconds(3), whole: .seconds(15))
  /// The limits for a command that runs once.
  package static let builder = RequestLimits(tries: 5, silence: .seconds(30))

  /// The limits for the request that joins the parts of an upload. A store may send spaces for minutes meanwhile (S3
  /// API reference, CompleteMultipartUpload).
  var ofCompletion: RequestLimits {
    var limits = self
    limits.silence = .seconds(120)
    limits.grace = .seconds(900)
    limits.whole = .seconds(900)
    return limits
  }

  /// Returns the timeout of a whole request that sends `count` bytes.
  func whole(sending count: Int) -> Duration { whole + .seconds(count / leastUpload) }
}

/// The progress of a transfer, so that a store that answers byte by byte does not block a caller.
struct TransferPace {
  private let limits: RequestLimits
  private var (sent, received) = (0, 0)
  private var lastByte: ContinuousClock.Instant
  private var firstReceived: ContinuousClock.Instant?

  init(_ limits: RequestLimits, at start: ContinuousClock.Instant) {
    self.limits = limits
    lastByte = start
  }

  /// Takes the numbers of bytes that were sent and received so far.
  /// - Returns: whether the transfer may continue.
  mutating func take(sent: Int, received: Int, at now: ContinuousClock.Instant) -> Bool {
    if sent != self.sent || received != self.received { lastByte = now }
    self.sent = sent
    self.received = received
    if received > 0, firstReceived == nil { firstReceived = now }
    guard now - lastByte <= limits.silence else { return false }
    guard let firstReceived, case let time = now - firstReceived - limits.grace, time > .zero else {
      return true
    }
    return Double(received) >= time / .seconds(1) * Double(limits.leastRate)
  }
}

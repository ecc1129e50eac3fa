/// The timeouts and the number of attempts of a request of `ObjectWriter`. Reads of tiles have an `RequestPolicy`.
package struct RequestLimits: Sendable {
  /// Requests for one question, where what went wrong may pass.
  package var tries: Int
  /// Before the second try, at most; doubled before each that follows.
  package var pause = Duration.milliseconds(400)
  /// Until a connection is open.
  package var connecting = Duration.seconds(5)
  /// Without a byte in either direction.
  package var silence: Duration
  /// From the first byte of an answer until it has to come at `leastRate`.
  package var grace = Duration.seconds(2)
  /// Bytes per second of an answer. A page of a list has some 250 bytes an object.
  package var leastRate = 8 << 10
  /// The timeout of a request without a body, from its start to the end of its response.
  package var whole = Duration.seconds(60)
  /// Bytes per second of what is sent.
  package var leastUpload = 32 << 10

  /// The limits for a server, which repeats requests itself and must recover within 5 seconds of an outage's end.
  package static let server = RequestLimits(tries: 2, silence: .seconds(3), whole: .seconds(15))
  /// The policy of a command that runs once.
  package static let builder = RequestLimits(tries: 5, silence: .seconds(30))

  /// The limits for the request that joins the parts of an upload. A store may send spaces for minutes meanwhile (S3 API
  /// reference, CompleteMultipartUpload).
  var ofCompletion: RequestLimits {
    var limits = self
    limits.silence = .seconds(120)
    limits.grace = .seconds(900)
    limits.whole = .seconds(900)
    return limits
  }

  /// The limit of a whole request that sends so many bytes.
  func whole(sending count: Int) -> Duration { whole + .seconds(count / leastUpload) }
}

/// Whether a transfer goes on, so that a store that answers byte by byte holds nobody up.
struct TransferPace {
  private let limits: RequestLimits
  private var (sent, received) = (0, 0)
  private var lastByte: ContinuousClock.Instant
  private var firstReceived: ContinuousClock.Instant?

  init(_ limits: RequestLimits, at start: ContinuousClock.Instant) {
    self.limits = limits
    lastByte = start
  }

  /// Takes how many bytes have gone and come so far.
  /// - Returns: whether the transfer may go on.
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

/// The timeouts and the retry policy for reads of tiles.
package struct RequestPolicy: Sendable {
  /// The timeout of opening a connection.
  package var connecting = Duration.seconds(1)
  /// The timeout of one call of `read` with all its retries. A caller's deadline may be earlier.
  package var whole = Duration.seconds(5)
  /// The timeout of one attempt. It is shorter than the whole, so that a dead connection leaves time for a retry.
  package var attempt = Duration.milliseconds(2500)
  package var tries = 3
  /// The maximum pause between the first and the second attempt, doubled for the third. It is random, so that many
  /// clients do not retry at the same time.
  package var pause = Duration.milliseconds(100)
  /// The maximum number of calls that wait for a response. Further calls fail at once as unavailable.
  package var waiting = 512
  /// The maximum number of connections.
  package var connections = 32
  package var retries = RetryBudget()
  package var breaker = CircuitBreaker()

  package init() {}
}

/// A limit for retries to a failing store: a tenth of the traffic.
package struct RetryBudget: Sendable {
  private var tokens: Double
  private let most: Double
  private let share: Double

  /// - Parameters:
  ///   - share: the number of retries that each call adds to the budget.
  ///   - most: the initial and maximum number of retries in the budget.
  package init(share: Double = 0.1, most: Double = 20) {
    self.share = share
    self.most = most
    tokens = most
  }

  package mutating func earn() { tokens = min(most, tokens + share) }

  /// Takes a retry from the budget. Returns false if there is none.
  package mutating func spend() -> Bool {
    guard tokens >= 1 else { return false }
    tokens -= 1
    return true
  }
}

/// A circuit breaker for a store that does not answer. It opens if half of at least 20 calls of the last 5 seconds
/// failed. Then it lets one call through every second, until one succeeds.
package struct CircuitBreaker: Sendable {
  /// Calls that ended within one part of the window.
  private struct Part {
    var number = -1
    var calls = 0
    var failures = 0
  }

  private static let partCount = 10
  private let window: Duration
  private let least: Int
  private let share: Double
  private let rest: Duration
  private var parts = [Part](repeating: Part(), count: partCount)
  private let start: ContinuousClock.Instant
  /// The time of the next probe; nil while the breaker is closed.
  private var nextProbe: ContinuousClock.Instant?

  /// - Parameters:
  ///   - least: the minimum number of calls in the window that can open the breaker.
  ///   - share: the share of failures that opens it, 0...1; more than 1 never does.
  ///   - rest: the time between probes.
  package init(
    window: Duration = .seconds(5), least: Int = 20, share: Double = 0.5, rest: Duration = .seconds(1),
    start: ContinuousClock.Instant = .now
  ) {
    self.window = window
    self.least = least
    self.share = share
    self.rest = rest
    self.start = start
  }

  package var isOpen: Bool { nextProbe != nil }

  /// Whether a request may be sent. While the breaker is open, it admits one from time to time, as a probe.
  package mutating func admits(at now: ContinuousClock.Instant) -> Bool {
    guard let next = nextProbe else { return true }
    guard now >= next else { return false }
    nextProbe = now + rest
    return true
  }

  /// Records the end of a call, with a response of any kind or without one.
  package mutating func note(hasAnswered: Bool, at now: ContinuousClock.Instant) {
    if isOpen {
      // A failure of a call from before it opened means nothing new.
      guard hasAnswered else { return }
      nextProbe = nil
      parts = [Part](repeating: Part(), count: Self.partCount)
      return
    }
    let number = Int((now - start) / window * Double(Self.partCount))
    let at = number % Self.partCount
    if parts[at].number != number { parts[at] = Part(number: number) }
    parts[at].calls += 1
    if !hasAnswered { parts[at].failures += 1 }
    let recent = parts.filter { $0.number > number - Self.partCount }
    let (calls, failures) = recent.reduce((0, 0)) { ($0.0 + $1.calls, $0.1 + $1.failures) }
    if calls >= least, Double(failures) >= share * Double(calls) { nextProbe = now + rest }
  }
}

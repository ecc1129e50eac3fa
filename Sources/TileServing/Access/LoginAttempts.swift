import Synchronization
import ZigguratHTTPMessages

/// Login attempts by client address, with a rate limit.
final class LoginAttempts: Sendable {
  private let limit = Mutex(LoginRateLimiter())
  private let metrics: Metrics
  /// A monotonic clock, in seconds.
  private let clock: @Sendable () -> Int

  init(_ metrics: Metrics, clock: @escaping @Sendable () -> Int) {
    self.metrics = metrics
    self.clock = clock
  }

  /// Counts an attempt. Returns `nil` if it is allowed now, otherwise the refusal.
  func refusal(of address: ClientAddress) -> Response? {
    let wait = limit.withLock { $0.admit(address, now: clock()) }
    guard wait > 0 else { return nil }
    countRefused()
    var response = Response.problem(429, "Too many attempts", "try again in \(wait) seconds")
    response.headers.append(("Retry-After", "\(wait)"))
    return response
  }

  /// Records that the credential of an attempt was correct.
  func succeeded(_ address: ClientAddress) { limit.withLock { $0.succeeded(address) } }

  /// Withdraws an attempt that was counted but not tried.
  func withdraw(_ address: ClientAddress) { limit.withLock { $0.withdrawn(address) } }

  /// Counts a refused login for `/metrics`.
  func countRefused() { metrics.refusedLogins.wrappingAdd(1, ordering: .relaxed) }
}

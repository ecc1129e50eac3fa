import TileStorage
import ZigguratConcurrency

/// A retry policy with exponential backoff and jitter, for callers that wait for a store. It repeats calls after errors that may be temporary.
struct RetryPolicy: Sendable {
  let count: Int
  var pause = Duration.milliseconds(400)

  init(count: Int) { self.count = count }

  init(_ limits: RequestLimits) { (count, pause) = (limits.tries, limits.pause) }

  func run<Result>(_ body: () throws(ObjectError) -> Result) throws(ObjectError) -> Result {
    for attempt in 1... {
      do throws(ObjectError) { return try body() } catch {
        guard error.isRetryable, attempt < count else { throw error }
        OneShotEvent().wait(upTo: pause.backoff(after: attempt) / .seconds(1))
      }
    }
    preconditionFailure("a try succeeds or is the last")
  }
}

extension Duration {
  /// Returns the pause before the next attempt: at most this one, doubled for each attempt after the first. It is
  /// random, so that many clients do not retry at the same time.
  /// - Parameter attempt: counted from 1.
  func backoff(after attempt: Int) -> Duration {
    self * (Double(1 << (attempt - 1)) * Double.random(in: 0.5...1))
  }
}

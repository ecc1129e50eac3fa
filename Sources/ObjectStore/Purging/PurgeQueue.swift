import Synchronization
import Threads

/// What one shared cache is still to forget; a thread of its own asks it.
package final class PurgeQueue: Sendable {
  /// When a key is asked for next, and the how manieth time that is.
  private struct Turn: Equatable {
    var at: ContinuousClock.Instant
    var number = 0
  }

  private struct State {
    var turns: [String: Turn] = [:]
    /// Questions in a row that had no answer.
    var failures = 0
    var isOver = false
  }

  /// How long before the next turn: answers that were on their way when the image went may have come meanwhile, and
  /// those of a server that looks twice a second for what is gone.
  private static let pauses: [Duration] = [.seconds(1), .seconds(4), .seconds(55)]
  /// As many keys as a header of two kilobytes has room for.
  private static let most = 100
  /// Seconds between questions to a cache that does not answer, at most.
  private static let longestPause = 15.0

  private let state = Mutex(State())
  private let news = WakeUps()
  private let forget: @Sendable ([String]) -> Bool
  private let heard: @Sendable (Bool) -> Void

  /// - Parameters:
  ///   - forget: asks the cache, and says whether it has forgotten.
  ///   - heard: told false when the cache begins not to answer, and true when it answers again.
  package init(
    _ forget: @escaping @Sendable ([String]) -> Bool, heard: @escaping @Sendable (Bool) -> Void = { _ in }
  ) {
    (self.forget, self.heard) = (forget, heard)
  }

  /// Has them forgotten now, and again when what was on its way has come. What cannot be asked is asked later.
  /// - Parameter keys: values of `Surrogate-Key`.
  package func add(_ keys: [String]) {
    let now = ContinuousClock.now
    state.withLock { state in
      for key in keys { state.turns[key] = Turn(at: now) }
    }
    news.signal()
  }

  /// Keys that are asked for once more at least.
  package var count: Int { state.withLock { $0.turns.count } }

  /// Begins to ask; to be called once.
  package func start() {
    StartedThread.needed { [self] in
      while !state.withLock({ $0.isOver }) {
        ask(at: .now)
        news.wait(upTo: pause)
      }
    }
  }

  package func stop() {
    state.withLock { $0.isOver = true }
    news.signal()
  }

  /// Seconds until there is something to ask; nil where others will say.
  private var pause: Double? {
    state.withLock { state in
      if state.failures > 0 { return min(Self.longestPause, 0.25 * Double(1 << min(state.failures, 6))) }
      return state.turns.values.map(\.at).min().map { max(0.01, ($0 - .now) / .seconds(1)) }
    }
  }

  /// Asks for all that is due, until there is no answer.
  func ask(at now: ContinuousClock.Instant) {
    while true {
      let due = state.withLock { state in
        Dictionary(
          uniqueKeysWithValues: state.turns.lazy.filter { $0.value.at <= now }.prefix(Self.most).map(\.self))
      }
      if due.isEmpty { return }
      let isHeard = forget(Array(due.keys))
      let wasHeard = state.withLock { state in
        defer { state.failures = isHeard ? 0 : state.failures + 1 }
        // What was added again meanwhile is asked for again.
        for (key, turn) in due where isHeard && state.turns[key] == turn {
          state.turns[key] = Self.after(turn, now)
        }
        return state.failures == 0
      }
      if isHeard != wasHeard { heard(isHeard) }
      if !isHeard { return }
    }
  }

  private static func after(_ turn: Turn, _ now: ContinuousClock.Instant) -> Turn? {
    pauses.indices.contains(turn.number) ? Turn(at: now + pauses[turn.number], number: turn.number + 1) : nil
  }
}

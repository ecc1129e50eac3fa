import Synchronization
import ZigguratConcurrency

/// The keys that a shared cache still has to purge, sent by a thread of its own.
package final class PurgeQueue: Sendable {
  /// The time and the number of the next purge of a key.
  private struct ScheduledPurge: Equatable {
    var at: ContinuousClock.Instant
    var number = 0
  }

  /// Keys whose next purges have the same number, in the order of their times. A key with another next purge by now
  /// still has its place here.
  private struct Line {
    var keys: [(key: String, at: ContinuousClock.Instant)] = []
    var first = 0

    /// Returns the places of the keys that are due, at most as many as fit into one request.
    func due(at now: ContinuousClock.Instant) -> Range<Int> {
      var end = first
      while end < min(keys.count, first + maximum), keys[end].at <= now { end += 1 }
      return first..<end
    }

    mutating func drop(_ count: Int) {
      first += count
      // Rarely, so that each is moved at most twice.
      if first > keys.count / 2 {
        keys.removeFirst(first)
        first = 0
      }
    }
  }

  private struct State {
    var turns: [String: ScheduledPurge] = [:]
    var lines = [Line](repeating: Line(), count: pauses.count + 1)
    /// The number of consecutive requests that failed.
    var failures = 0
    var isOver = false

    mutating func add(_ key: String, _ turn: ScheduledPurge) {
      turns[key] = turn
      lines[turn.number].keys.append((key, turn.at))
    }
  }

  /// The pauses before the next purges of a key, for responses that were in progress when the image was removed. Some
  /// come from servers that check for removals twice a second.
  private static let pauses: [Duration] = [.seconds(1), .seconds(4), .seconds(55)]
  /// The number of keys that fit into a header of two kilobytes.
  private static let maximum = 100
  /// The maximum time between requests to a cache that does not answer, in seconds.
  private static let maxPause = 15.0

  private let state = Mutex(State())
  private let news = CountingSemaphore()
  private let forget: @Sendable ([String]) -> Bool
  private let heard: @Sendable (Bool) -> Void

  /// - Parameters:
  ///   - forget: sends the keys to the cache, and returns whether they were purged.
  ///   - heard: called with false when the cache stops answering, and with true when it answers again.
  package init(
    _ forget: @escaping @Sendable ([String]) -> Bool, heard: @escaping @Sendable (Bool) -> Void = { _ in }
  ) {
    self.forget = forget
    self.heard = heard
  }

  /// Purges the keys now, and again after responses in progress have arrived. Failed requests are sent again later.
  /// - Parameters:
  ///   - keys: values of `Surrogate-Key`.
  ///   - now: the time at which the images were removed.
  package func add(_ keys: [String], at now: ContinuousClock.Instant = .now) {
    state.withLock { state in
      for key in keys { state.add(key, ScheduledPurge(at: now)) }
    }
    news.signal()
  }

  /// The number of keys that will be purged at least once more.
  package var count: Int { state.withLock { $0.turns.count } }

  /// Starts the thread. Must be called once.
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

  /// The time in seconds until the next request; nil if the thread waits for a signal.
  private var pause: Double? {
    state.withLock { state in
      if state.failures > 0 { return min(Self.maxPause, 0.25 * Double(1 << min(state.failures, 6))) }
      let next = state.lines.compactMap { $0.keys.count > $0.first ? $0.keys[$0.first].at : nil }.min()
      return next.map { max(0.01, ($0 - .now) / .seconds(1)) }
    }
  }

  /// Purges all keys that are due, until a request fails.
  func ask(at now: ContinuousClock.Instant) {
    while true {
      let (number, places, due) = state.withLock {
        state -> (Int, Int, [(key: String, turn: ScheduledPurge)]) in
        for (number, line) in state.lines.enumerated() {
          let places = line.due(at: now)
          if places.isEmpty { continue }
          let due = line.keys[places].lazy.map { ($0.key, ScheduledPurge(at: $0.at, number: number)) }
          return (number, places.count, due.filter { state.turns[$0.0] == $0.1 })
        }
        return (0, 0, [])
      }
      if places == 0 { return }
      if due.isEmpty {
        state.withLock { $0.lines[number].drop(places) }
        continue
      }
      let isHeard = forget(Array(Set(due.map(\.key))))
      let wasHeard = state.withLock { state in
        defer { state.failures = isHeard ? 0 : state.failures + 1 }
        if isHeard { state.lines[number].drop(places) }
        // A key that was added again in the meantime is purged again.
        for (key, turn) in due where isHeard && state.turns[key] == turn {
          state.turns[key] = nil
          if let next = Self.after(turn, now) { state.add(key, next) }
        }
        return state.failures == 0
      }
      if isHeard != wasHeard { heard(isHeard) }
      if !isHeard { return }
    }
  }

  private static func after(_ turn: ScheduledPurge, _ now: ContinuousClock.Instant) -> ScheduledPurge? {
    pauses.indices.contains(turn.number)
      ? ScheduledPurge(at: now + pauses[turn.number], number: turn.number + 1) : nil
  }
}

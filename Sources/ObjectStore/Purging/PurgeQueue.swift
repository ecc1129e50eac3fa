import Synchronization
import ZigguratConcurrency

/// The keys that a shared cache still has to purge, sent by a thread of its own.
package final class PurgeQueue: Sendable {
  /// The time and the number of the next purge of a key.
  private struct Turn: Equatable {
    var at: ContinuousClock.Instant
    var number = 0
  }

  /// Keys whose turns have one number, in the order of their times. Of a key that has another turn by now there is no
  /// more than its place here.
  private struct Line {
    var keys: [(key: String, at: ContinuousClock.Instant)] = []
    var first = 0

    /// Returns the places of the keys that are due, up to the number in one request.
    func due(at now: ContinuousClock.Instant) -> Range<Int> {
      var end = first
      while end < min(keys.count, first + most), keys[end].at <= now { end += 1 }
      return first..<end
    }

    mutating func drop(_ count: Int) {
      first += count
      // Seldom, so that each is moved twice at most.
      if first > keys.count / 2 {
        keys.removeFirst(first)
        first = 0
      }
    }
  }

  private struct State {
    var turns: [String: Turn] = [:]
    var lines = [Line](repeating: Line(), count: pauses.count + 1)
    /// Questions in a row that had no answer.
    var failures = 0
    var isOver = false

    mutating func add(_ key: String, _ turn: Turn) {
      turns[key] = turn
      lines[turn.number].keys.append((key, turn.at))
    }
  }

  /// The pauses before the next purges of a key, for responses that were on their way when the image went. Some come from
  /// servers that look for removals twice a second.
  private static let pauses: [Duration] = [.seconds(1), .seconds(4), .seconds(55)]
  /// As many keys as a header of two kilobytes has room for.
  private static let most = 100
  /// Seconds between questions to a cache that does not answer, at most.
  private static let longestPause = 15.0

  private let state = Mutex(State())
  private let news = CountingSemaphore()
  private let forget: @Sendable ([String]) -> Bool
  private let heard: @Sendable (Bool) -> Void

  /// - Parameters:
  ///   - forget: asks the cache, and says whether it has forgotten.
  ///   - heard: told false when the cache begins not to answer, and true when it answers again.
  package init(
    _ forget: @escaping @Sendable ([String]) -> Bool, heard: @escaping @Sendable (Bool) -> Void = { _ in }
  ) {
    self.forget = forget
    self.heard = heard
  }

  /// Has them forgotten now, and again when what was on its way has come. What cannot be asked is asked later.
  /// - Parameters:
  ///   - keys: values of `Surrogate-Key`.
  ///   - now: when they went.
  package func add(_ keys: [String], at now: ContinuousClock.Instant = .now) {
    state.withLock { state in
      for key in keys { state.add(key, Turn(at: now)) }
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
      let next = state.lines.compactMap { $0.keys.count > $0.first ? $0.keys[$0.first].at : nil }.min()
      return next.map { max(0.01, ($0 - .now) / .seconds(1)) }
    }
  }

  /// Asks for all that is due, until there is no answer.
  func ask(at now: ContinuousClock.Instant) {
    while true {
      let (number, places, due) = state.withLock { state -> (Int, Int, [(key: String, turn: Turn)]) in
        for (number, line) in state.lines.enumerated() {
          let places = line.due(at: now)
          if places.isEmpty { continue }
          let due = line.keys[places].lazy.map { ($0.key, Turn(at: $0.at, number: number)) }
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
        // What was added again meanwhile is asked for again.
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

  private static func after(_ turn: Turn, _ now: ContinuousClock.Instant) -> Turn? {
    pauses.indices.contains(turn.number) ? Turn(at: now + pauses[turn.number], number: turn.number + 1) : nil
  }
}

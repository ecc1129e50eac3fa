import Synchronization

/// A runner of one operation for each key at a time (as Go's `singleflight`). Callers that ask for the key meanwhile
/// share its result. A result that is worth remembering, such as a failure, is returned for a while without another
/// operation (negative caching).
package final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct State {
    var flights: [Key: Future<Value>] = [:]
    var remembered: [Key: (value: Value, until: ContinuousClock.Instant)] = [:]
  }

  private let state = Mutex(State())
  /// The maximum number of remembered results. If there are very many, none is worth remembering.
  private let capacity: Int

  package init(remembering capacity: Int = 4096) { self.capacity = capacity }

  /// Returns the flight of the key.
  /// - Returns: `isNew` if the caller has to start the operation, and to call `land` when it ends.
  package func join(_ key: Key) -> (flight: Future<Value>, isNew: Bool) {
    state.withLock { state in
      if let flight = state.flights[key] { return (flight, false) }
      let flight = Future<Value>()
      state.flights[key] = flight
      return (flight, true)
    }
  }

  /// Ends the operation of the key.
  /// - Parameter rest: the time for which `remembered` returns the result; nil for not at all.
  package func land(_ key: Key, _ value: Value, rememberingFor rest: Duration? = nil) {
    let flight = state.withLock { state in
      if let rest {
        if state.remembered.count >= capacity { state.remembered = [:] }
        state.remembered[key] = (value, .now + rest)
      }
      return state.flights.removeValue(forKey: key)
    }
    flight?.land(value)
  }

  /// Returns the result of the last operation, as long as it is remembered.
  package func remembered(_ key: Key) -> Value? {
    state.withLock { state in
      guard let known = state.remembered[key] else { return nil }
      if known.until > .now { return known.value }
      state.remembered[key] = nil
      return nil
    }
  }
}

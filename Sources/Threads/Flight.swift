import Synchronization

/// Something that is on its way, whose coming any number of tasks and threads wait for.
package protocol Pending: Sendable {
  /// Calls `body` once, when it has come or failed: at once if that was before. The thread that brings it calls it, and must
  /// not be held up.
  func whenLanded(_ body: @escaping @Sendable () -> Void)
}

extension Pending {
  /// Returns when it has come or failed. A task that is cancelled waits all the same.
  package func landed() async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      whenLanded { continuation.resume() }
    }
  }

  /// Blocks the thread until it has come or failed; not for an event loop or a thread of the cooperative pool.
  package func wait() {
    let landed = WakeUps()
    whenLanded { landed.signal() }
    landed.wait()
  }
}

/// The result of an operation that has begun. It lands once.
package final class Flight<Value: Sendable>: Pending {
  /// In a type of its own: a function that stands bare in a generic type is wrapped once more by every look at it.
  private struct Observer {
    let receive: @Sendable (Value) -> Void
  }

  private enum State {
    case flying([Observer])
    case landed(Value)
  }

  private let state = Mutex(State.flying([]))

  package init() {}

  /// Gives the result to all who wait for it. What comes after the first result is ignored.
  package func land(_ value: Value) {
    let observers = state.withLock { state -> [Observer] in
      guard case .flying(let observers) = state else { return [] }
      state = .landed(value)
      return observers
    }
    for observer in observers { observer.receive(value) }
  }

  /// Calls `body` once with the result: at once if it is there. The thread that lands it calls it, in the order of these calls,
  /// and must not be held up.
  package func whenLanded(_ body: @escaping @Sendable (Value) -> Void) {
    let landed = state.withLock { state -> Value? in
      switch state {
      case .landed(let value): return value
      case .flying(let observers):
        state = .flying(observers + [Observer(receive: body)])
        return nil
      }
    }
    if let landed { body(landed) }
  }

  package func whenLanded(_ body: @escaping @Sendable () -> Void) { whenLanded { _ in body() } }

  /// Blocks the thread until the result is there, and returns it.
  package func value() -> Value {
    wait()
    guard case .landed(let value) = state.withLock({ $0 }) else { preconditionFailure("it has landed") }
    return value
  }
}

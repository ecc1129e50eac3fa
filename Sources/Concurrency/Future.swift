import Synchronization

/// A pending result for which any number of tasks and threads wait.
package protocol Pending: Sendable {
  /// Calls `body` once after the result has arrived or failed; at once if it already has. The thread that lands the
  /// result calls it, and must not be blocked.
  func whenComplete(_ body: @escaping @Sendable () -> Void)
}

extension Pending {
  /// Suspends the task until the result has arrived or failed, or the task is cancelled.
  package func landed() async {
    let waiter = Waiter()
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        waiter.wait(with: continuation)
        whenComplete { waiter.resume() }
      }
    } onCancel: {
      waiter.resume()
    }
  }

  /// Blocks the thread until the result has arrived or failed; not for an event loop or a thread of the cooperative
  /// pool.
  package func wait() {
    let landed = CountingSemaphore()
    whenComplete { landed.signal() }
    landed.wait()
  }
}

/// A suspended task, which is resumed once.
private final class Waiter: Sendable {
  private struct State {
    var continuation: UnsafeContinuation<Void, Never>?
    var isResumed = false
  }

  private let state = Mutex(State())

  func wait(with continuation: UnsafeContinuation<Void, Never>) {
    let isResumed = state.withLock { state in
      if !state.isResumed { state.continuation = continuation }
      return state.isResumed
    }
    if isResumed { continuation.resume() }
  }

  func resume() {
    let continuation = state.withLock { state in
      state.isResumed = true
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume()
  }
}

/// The result of an operation that has begun. It lands once.
package final class Future<Value: Sendable>: Pending {
  /// A struct, because a bare function in a generic type is wrapped again at every access.
  private struct Observer {
    let receive: @Sendable (Value) -> Void
  }

  private struct State {
    /// The result; nil before it lands.
    var value: Value?
    var observers: [Observer] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// Passes the result to all waiting observers. Later results are ignored.
  package func land(_ value: Value) {
    let observers = state.withLock { state -> [Observer] in
      guard state.value == nil else { return [] }
      state.value = value
      defer { state.observers = [] }
      return state.observers
    }
    for observer in observers { observer.receive(value) }
  }

  /// Calls `body` once with the result; at once if it has landed. The thread that lands it calls all bodies in the
  /// order of these calls, and must not be blocked.
  package func whenComplete(_ body: @escaping @Sendable (Value) -> Void) {
    let landed = state.withLock { state -> Value? in
      if state.value == nil { state.observers.append(Observer(receive: body)) }
      return state.value
    }
    if let landed { body(landed) }
  }

  package func whenComplete(_ body: @escaping @Sendable () -> Void) { whenComplete { _ in body() } }

  /// Blocks the thread until the result has landed, and returns it.
  package func value() -> Value {
    wait()
    guard let value = state.withLock({ $0.value }) else { preconditionFailure("it has landed") }
    return value
  }
}

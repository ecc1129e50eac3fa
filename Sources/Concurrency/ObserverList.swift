import Synchronization

/// A list of observers of an event, which may be used by many threads.
package final class ObserverList<Event>: Sendable {
  /// A struct, because a bare function in a generic type is wrapped again at every access. In the end, the nested
  /// wrappers take all of a thread's stack.
  private struct Observer {
    let notify: @Sendable (Event) -> Void
  }

  private let observers = Mutex<[Observer]>([])

  package init() {}

  /// Adds an observer, which is called for all events from now on.
  package func observe(_ body: @escaping @Sendable (Event) -> Void) {
    observers.withLock { $0.append(Observer(notify: body)) }
  }

  package func notify(_ event: Event) {
    for observer in observers.withLock({ $0 }) { observer.notify(event) }
  }
}

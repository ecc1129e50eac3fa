import Synchronization

/// Those who are told of what happens, as soon as it is known who they are; may be used by many threads.
package final class Observation<Event>: Sendable {
  /// In a type of its own: a function that stands bare in a generic type is wrapped once more by every look at it,
  /// until the wrappings that call each other take all of a thread's stack.
  private struct Observer {
    let tell: @Sendable (Event) -> Void
  }

  private let observers = Mutex<[Observer]>([])

  package init() {}

  /// Has `body` told from now on, too.
  package func observe(_ body: @escaping @Sendable (Event) -> Void) {
    observers.withLock { $0.append(Observer(tell: body)) }
  }

  package func tell(_ event: Event) {
    for observer in observers.withLock({ $0 }) { observer.tell(event) }
  }
}

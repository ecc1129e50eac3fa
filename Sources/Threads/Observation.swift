import Synchronization

/// One who is told of what happens, as soon as it is known who that is; may be used by many threads.
package final class Observation<Event>: Sendable {
  /// In a type of its own: a function that stands bare in a generic type is wrapped once more by every look at it,
  /// until the wrappings that call each other take all of a thread's stack.
  private struct Observer {
    let tell: @Sendable (Event) -> Void
  }

  private let observer = Mutex<Observer?>(nil)

  package init() {}

  /// Has `body` told from now on, instead of who was told before.
  package func observe(_ body: @escaping @Sendable (Event) -> Void) {
    observer.withLock { $0 = Observer(tell: body) }
  }

  package func tell(_ event: Event) { observer.withLock { $0 }?.tell(event) }
}

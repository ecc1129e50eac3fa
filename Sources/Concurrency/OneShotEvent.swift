import Glibc
import Synchronization

/// An event that any thread sets once.
package final class OneShotEvent: Sendable {
  private let value = Atomic<Bool>(false)
  private let monitor = ConditionLock()

  package init() {}

  package var isSet: Bool { value.load(ordering: .relaxed) }

  package func set() {
    monitor.lock()
    value.store(true, ordering: .relaxed)
    monitor.wakeAll()
    monitor.unlock()
  }

  /// Waits until it is set, or until so many seconds have passed.
  package func wait(upTo seconds: Double) {
    let end = ConditionLock.time(after: seconds)
    monitor.lock()
    defer { monitor.unlock() }
    while !isSet { guard monitor.wait(until: end) else { return } }
  }
}

/// A counting semaphore: each signal wakes one waiting thread.
// Sendable: the count is accessed under `monitor` only.
package final class CountingSemaphore: @unchecked Sendable {
  private let monitor = ConditionLock()
  private var count = 0

  package init() {}

  package func signal() {
    monitor.lock()
    count += 1
    monitor.wakeAll()
    monitor.unlock()
  }

  /// Waits for a signal and takes it.
  package func wait() {
    monitor.lock()
    defer { monitor.unlock() }
    while count == 0 { monitor.wait() }
    count -= 1
  }

  /// Waits for a signal and takes it; takes none if none arrives within so many seconds.
  /// - Parameters:
  ///   - seconds: the timeout; nil waits for ever.
  ///   - takesAll: whether all signals that have arrived are taken at once.
  package func wait(upTo seconds: Double?, takesAll: Bool = false) {
    let end = seconds.map { ConditionLock.time(after: $0) }
    monitor.lock()
    defer { monitor.unlock() }
    while count == 0 {
      guard let end else {
        monitor.wait()
        continue
      }
      guard monitor.wait(until: end) else { return }
    }
    count = takesAll ? 0 : count - 1
  }
}

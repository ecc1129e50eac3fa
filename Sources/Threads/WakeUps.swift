/// Signals that threads give each other, counted: each wakes one who waits.
// Sendable: the count is touched under `monitor` only.
package final class WakeUps: @unchecked Sendable {
  private let monitor = Monitor()
  private var count = 0

  package init() {}

  package func signal() {
    monitor.lock()
    count += 1
    monitor.wakeAll()
    monitor.unlock()
  }

  /// Takes one signal, as soon as there is one.
  package func wait() {
    monitor.lock()
    defer { monitor.unlock() }
    while count == 0 { monitor.wait() }
    count -= 1
  }

  /// The same; takes none where none came within so many seconds.
  /// - Parameters:
  ///   - seconds: for ever where nil.
  ///   - takesAll: whether all signals that have come are taken at once.
  package func wait(upTo seconds: Double?, takesAll: Bool = false) {
    let end = seconds.map { Monitor.time(after: $0) }
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

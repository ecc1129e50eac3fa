import Glibc
import Synchronization

/// Closes what nobody uses now when the process, or the system, has no free file descriptor.
///
/// One for the process, as its limit is (RLIMIT_NOFILE).
package final class DescriptorRelief: Sendable {
  package static let shared = DescriptorRelief()

  /// Closes some idle descriptors, and returns how many; nil once there are no more to come.
  package typealias Source = @Sendable () -> Int?

  private struct State {
    var sources: [Int: Source] = [:]
    var added = 0
    var report: (@Sendable (String) -> Void)?
    /// Seconds of the monotonic clock.
    var reported: Int?
  }

  /// Seconds between two lines for the operator.
  private static let interval = 60

  private let state = Mutex(State())
  private let total = Atomic<Int>(0)

  /// Times that a descriptor was wanted and there was none.
  package var shortages: Int { total.load(ordering: .relaxed) }

  package func add(_ source: @escaping Source) {
    state.withLock { state in
      state.sources[state.added] = source
      state.added += 1
    }
  }

  /// - Parameter report: takes a line for the operator, once a minute at most.
  package func report(_ report: @escaping @Sendable (String) -> Void) {
    state.withLock { $0.report = report }
  }

  /// Whether a system call failed for want of a descriptor.
  package static func isShortage(_ code: Int32) -> Bool { code == EMFILE || code == ENFILE }

  /// Has idle descriptors closed.
  /// - Returns: whether any were, so that the same call may go through now.
  @discardableResult
  package func relieve() -> Bool {
    total.wrappingAdd(1, ordering: .relaxed)
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let now = time.tv_sec
    let (sources, report) = state.withLock { state in
      let isDue = state.reported.map { now - $0 >= Self.interval } ?? true
      if isDue { state.reported = now }
      return (state.sources, isDue ? state.report : nil)
    }
    var closed = 0
    for (number, source) in sources {
      if let count = source() {
        closed += count
      } else {
        state.withLock { _ = $0.sources.removeValue(forKey: number) }
      }
    }
    report?("no free file descriptor: closed \(closed) idle ones; raise the limit (ulimit -n, LimitNOFILE=)")
    return closed > 0
  }
}

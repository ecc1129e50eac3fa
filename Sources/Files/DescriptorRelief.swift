import Glibc
import Synchronization

/// A registry of idle descriptors, which are closed when the process, or the system, has no free file descriptor.
///
/// The process has one, like its limit (RLIMIT_NOFILE).
package final class DescriptorRelief: Sendable {
  package static let shared = DescriptorRelief()

  /// A function that closes some idle descriptors, and returns their number; nil if it will never have any more.
  package typealias Source = @Sendable () -> Int?

  private struct State {
    var sources: [Int: Source] = [:]
    var added = 0
    var report: (@Sendable (String) -> Void)?
    /// The time of the last report, in seconds of the monotonic clock.
    var reported: Int?
  }

  /// The minimum time between two lines for the operator, in seconds.
  private static let interval = 60

  private let state = Mutex(State())
  private let total = Atomic<Int>(0)

  /// The number of times that no descriptor was available.
  package var shortages: Int { total.load(ordering: .relaxed) }

  package func add(_ source: @escaping Source) {
    state.withLock { state in
      state.sources[state.added] = source
      state.added += 1
    }
  }

  /// - Parameter report: receives a line for the operator, at most once a minute.
  package func report(_ report: @escaping @Sendable (String) -> Void) {
    state.withLock { $0.report = report }
  }

  /// Whether a system call failed because no descriptor was available.
  package static func isShortage(_ code: Int32) -> Bool { code == EMFILE || code == ENFILE }

  /// Closes idle descriptors.
  /// - Returns: whether any were closed, so that the same call may succeed now.
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

import Glibc
import Synchronization

/// The processor time of the threads that send responses.
package final class EventLoopCPUTime: Sendable {
  private let clocks = Mutex<[clockid_t]>([])

  /// Adds the calling thread, which must run until the process ends.
  package func join() {
    var clock = clockid_t()
    guard pthread_getcpuclockid(pthread_self(), &clock) == 0 else { return }
    clocks.withLock { if !$0.contains(clock) { $0.append(clock) } }
  }

  /// The processor time of all threads, in seconds.
  var seconds: Double { clocks.withLock { $0.reduce(0) { $0 + RenderThrottle.seconds($1) } } }
}

/// Decides when the next picture may be started: immediately, unless responses take a large share of all
/// processors. Pictures then get one eighth of the machine, one after the other, independent of the system's
/// scheduler. A render that takes a millisecond on each processor delays tiles by a millisecond.
struct RenderThrottle {
  private static let crowdedShare = 0.25
  private static let share = 0.125
  /// Minimum measuring interval, in seconds. Shorter measurements are noise.
  private static let window = 0.02
  /// Maximum debt after a long render, in seconds of processor time.
  private static let maxDebt = 0.2

  private let processors = Double(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  private let loops: EventLoopCPUTime
  private var sampled = RenderThrottle.seconds(CLOCK_MONOTONIC)
  private var answering = 0.0
  private var rendering = 0.0
  private var credit = 0.0
  private(set) var isCrowded = false

  init(_ loops: EventLoopCPUTime) { self.loops = loops }

  /// Whether a picture may be started now. To be called before each picture.
  /// - Parameters:
  ///   - renderSeconds: returns the processor time of all render threads so far, in seconds.
  ///   - isIdle: returns whether nothing is being rendered.
  mutating func mayBegin(renderSeconds: () -> Double, isIdle: () -> Bool) -> Bool {
    let now = Self.seconds(CLOCK_MONOTONIC)
    let elapsed = now - sampled
    if elapsed < Self.window, !isCrowded { return true }
    let renderSeconds = renderSeconds()
    if elapsed >= Self.window {
      let used = loops.seconds
      isCrowded = used - answering >= Self.crowdedShare * elapsed * processors
      credit += min(elapsed, 1) * processors * Self.share - (renderSeconds - rendering)
      credit = max(-Self.maxDebt, min(credit, Self.window * processors * Self.share))
      sampled = now
      answering = used
      rendering = renderSeconds
    }
    return !isCrowded || (isIdle() && credit - (renderSeconds - rendering) > 0)
  }

  /// Seconds to wait before the next call.
  var pause: Double { max(0.002, min(0.1, -credit / (processors * Self.share))) }

  static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    return clock_gettime(clock, &time) == 0 ? Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 : 0
  }
}

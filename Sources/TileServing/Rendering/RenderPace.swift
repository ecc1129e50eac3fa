import Glibc
import Synchronization

/// The threads that answer, as far as their processor time goes.
package final class EventLoops: Sendable {
  private let clocks = Mutex<[clockid_t]>([])

  /// The calling thread is one of them, as long as the process lives.
  package func join() {
    var clock = clockid_t()
    guard pthread_getcpuclockid(pthread_self(), &clock) == 0 else { return }
    clocks.withLock { if !$0.contains(clock) { $0.append(clock) } }
  }

  /// The processor time that all of them have used, in seconds.
  var seconds: Double { clocks.withLock { $0.reduce(0) { $0 + RenderPace.seconds($1) } } }
}

/// When the next picture may be begun: at once, except while answers take a good part of all processors. Then
/// pictures get an eighth of the machine, one after the other, whatever the system's scheduler would give them:
/// a render of a millisecond on each processor is a millisecond that tiles wait.
struct RenderPace {
  private static let crowdedShare = 0.25
  private static let share = 0.125
  /// Seconds: what is measured over less is chance.
  private static let window = 0.02
  /// Seconds of processor time that count after the longest picture.
  private static let longestDebt = 0.2

  private let processors = Double(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  private let loops: EventLoops
  private var sampled = RenderPace.seconds(CLOCK_MONOTONIC)
  private var answering = 0.0
  private var rendering = 0.0
  private var credit = 0.0
  private(set) var isCrowded = false

  init(_ loops: EventLoops) { self.loops = loops }

  /// To be asked before each picture.
  /// - Parameters:
  ///   - renderSeconds: processor time of all render threads so far.
  ///   - isIdle: nothing is being rendered.
  mutating func mayBegin(renderSeconds: () -> Double, isIdle: () -> Bool) -> Bool {
    let now = Self.seconds(CLOCK_MONOTONIC)
    let elapsed = now - sampled
    if elapsed < Self.window, !isCrowded { return true }
    let renderSeconds = renderSeconds()
    if elapsed >= Self.window {
      let used = loops.seconds
      isCrowded = used - answering >= Self.crowdedShare * elapsed * processors
      credit += min(elapsed, 1) * processors * Self.share - (renderSeconds - rendering)
      credit = max(-Self.longestDebt, min(credit, Self.window * processors * Self.share))
      sampled = now
      answering = used
      rendering = renderSeconds
    }
    return !isCrowded || (isIdle() && credit - (renderSeconds - rendering) > 0)
  }

  /// Seconds after which it is worth asking again.
  var pause: Double { max(0.002, min(0.1, -credit / (processors * Self.share))) }

  static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    return clock_gettime(clock, &time) == 0 ? Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 : 0
  }
}

import Glibc
import Synchronization
import ZigguratConcurrency
import ZigguratTileRendering

/// A thread of low priority that renders one picture at a time.
///
/// It takes no lock that an event loop takes. Otherwise a preempted render thread that holds the lock would delay
/// tiles (priority inversion).
final class RenderThread: @unchecked Sendable {
  private enum Stage: UInt8, AtomicRepresentable {
    case idle, busy, done
  }

  private let stage = Atomic(Stage.idle)
  private let begin = CountingSemaphore()
  private let done: CountingSemaphore
  /// The clock of its processor time; 0 until it runs.
  private let clock = Atomic<clockid_t>(0)
  private var job: RenderJob?
  /// The lane of the job; `nil` without a job. Accessed only by the dispatching thread.
  private(set) var lane: RenderJob.Lane?
  private var outcome = RenderOutcome.refused(.busy)

  /// - Parameter done: signalled after each picture.
  init(done: CountingSemaphore) { self.done = done }

  /// - Returns: `false` if the system cannot create a thread.
  func start() -> Bool {
    StartedThread.detached { [self] in
      // Linux sets the priority of this thread only. Not the lowest priority: pictures must make progress under
      // full load.
      setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
      var own = clockid_t()
      if pthread_getcpuclockid(pthread_self(), &own) == 0 { clock.store(own, ordering: .relaxed) }
      work()
    }
  }

  /// The processor time used by the thread, in seconds.
  var seconds: Double {
    let clock = clock.load(ordering: .relaxed)
    return clock == 0 ? 0 : RenderThrottle.seconds(clock)
  }

  var isIdle: Bool { stage.load(ordering: .acquiring) == .idle }

  /// Gives an idle thread its job; `nil` ends the thread.
  func make(_ job: RenderJob?) {
    self.job = job
    lane = job?.lane
    stage.store(.busy, ordering: .releasing)
    begin.signal()
  }

  /// Returns the finished job and makes the thread idle; `nil` if no job is finished.
  func finished() -> (job: RenderJob, outcome: RenderOutcome)? {
    guard stage.load(ordering: .acquiring) == .done, let job else { return nil }
    defer {
      self.job = nil
      lane = nil
      outcome = .refused(.busy)
      stage.store(.idle, ordering: .releasing)
    }
    return (job, outcome)
  }

  private func work() {
    while true {
      begin.wait()
      guard let job else { return }
      do throws(RenderError) {
        outcome = .done(RenderedBytes(try job.work(job.cancellation)))
      } catch {
        // The cause is logged for the operator; the client learns only that rendering failed.
        outcome = .refused(
          job.cancellation.isAsked || error.isTemporary
            ? .busy : error.isOutOfReach ? .outOfReach(insteadOf: job.failure) : job.failure)
      }
      stage.store(.done, ordering: .releasing)
      done.signal()
    }
  }
}

import Glibc
import Synchronization
import ZigguratThreads
import ZigguratTileRendering

/// A thread of low priority that makes one picture at a time.
///
/// It takes no lock that an event loop takes: a thread that must let tiles go first while it holds a lock
/// would keep the tiles waiting for it.
// Sendable: `job` and `outcome` belong to the thread while it is busy, to the one who hands out jobs before
// and after; `stage` passes them to and fro.
final class RenderThread: @unchecked Sendable {
  private enum Stage: UInt8, AtomicRepresentable {
    case idle, busy, done
  }

  private let stage = Atomic(Stage.idle)
  private let begin = WakeUps()
  private let done: WakeUps
  /// The clock of its processor time; 0 until it runs.
  private let clock = Atomic<clockid_t>(0)
  private var job: RenderJob?
  /// The lane of its job; nil if it has none. Only the queue that assigns jobs reads it.
  private(set) var lane: RenderJob.Lane?
  private var outcome = RenderOutcome.refused(.busy)

  /// - Parameter done: signalled after each picture.
  init(done: WakeUps) { self.done = done }

  /// - Returns: false where the system gives no thread.
  func start() -> Bool {
    StartedThread.detached { [self] in
      // For this thread alone, as Linux has it. Not the lowest: pictures come, if late, while tiles take all.
      setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
      var own = clockid_t()
      if pthread_getcpuclockid(pthread_self(), &own) == 0 { clock.store(own, ordering: .relaxed) }
      work()
    }
  }

  /// Processor time that it has used.
  var seconds: Double {
    let clock = clock.load(ordering: .relaxed)
    return clock == 0 ? 0 : RenderPace.seconds(clock)
  }

  var isIdle: Bool { stage.load(ordering: .acquiring) == .idle }

  /// Gives an idle thread its job, or nil, at which it ends.
  func make(_ job: RenderJob?) {
    self.job = job
    lane = job?.lane
    stage.store(.busy, ordering: .releasing)
    begin.signal()
  }

  /// The job that is done, after which the thread is idle; nil where none is.
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
        // The reason is the operator's; a client is told no more than that it failed.
        outcome = .refused(
          job.cancellation.isAsked || error.isTemporary
            ? .busy : error.isOutOfReach ? .outOfReach(insteadOf: job.failure) : job.failure)
      }
      stage.store(.done, ordering: .releasing)
      done.signal()
    }
  }
}

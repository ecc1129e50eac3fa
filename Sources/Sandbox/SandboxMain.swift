import Glibc
import ZigguratConcurrency

/// The main function of a sandboxed process, on a thread that was started after the fork.
///
/// Swift's `Mutex` stores each thread's number, and the first thread of a forked process still has its parent's. If two
/// threads contended for a lock, the kernel would take it for another thread's.
final class SandboxMain: Sendable {
  private let work: WorkerMain

  init(_ work: @escaping WorkerMain) { self.work = work }

  func run() -> Never {
    let isStarted = StartedThread.detached { [self] in
      work(WorkerConnection(WorkerChannel(3, isSandboxed: true)))
      _exit(0)
    }
    guard isStarted else { _exit(71) }
    while true { pause() }
  }
}

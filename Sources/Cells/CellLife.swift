import Glibc
import ZigguratThreads

/// A cell's work, on a thread that was begun after the fork.
///
/// Swift's `Mutex` keeps each thread's number, and the first thread of a forked process still has its parent's: where
/// two threads meet at a lock, the kernel would take it for somebody else's.
final class CellLife: Sendable {
  private let work: CellWork

  init(_ work: @escaping CellWork) { self.work = work }

  func run() -> Never {
    let isStarted = StartedThread.detached { [self] in
      work(CellSession(CellChannel(3, isInCell: true)))
      _exit(0)
    }
    guard isStarted else { _exit(71) }
    while true { pause() }
  }
}

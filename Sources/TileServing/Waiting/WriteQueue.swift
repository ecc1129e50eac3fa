import Glibc
import Synchronization
import Threads

/// Does on a few threads of its own what waits for disks, databases or deliberate slowness, and thus never
/// may run on an event loop.
package final class WriteQueue: Sendable {
  private struct State {
    var waiting: [@Sendable () -> Void] = []
    var idle = 0
    var threads = 0
    var isStopping = false
  }

  private let state = Mutex(State())
  private let wakeUp = WakeUps()
  private let threads: Int
  private let capacity: Int

  /// - Parameter capacity: jobs that may wait.
  init(threads: Int = 4, capacity: Int = 256) { (self.threads, self.capacity) = (threads, capacity) }

  /// Has `job` done; false where the queue is full or ends, and then it is not.
  /// - Parameter always: also where the queue is full: clearing up after a client that is gone.
  package func submit(always: Bool = false, _ job: @escaping @Sendable () -> Void) -> Bool {
    let (isTaken, needsThread) = state.withLock { state -> (Bool, Bool) in
      guard !state.isStopping, always || state.waiting.count < capacity else { return (false, false) }
      state.waiting.append(job)
      let needsThread = state.idle < state.waiting.count && state.threads < threads
      if needsThread { state.threads += 1 }
      return (true, needsThread)
    }
    if isTaken { wakeUp.signal() }
    if needsThread { startThread() }
    return isTaken
  }

  /// Takes no more jobs and returns when those that it had are done.
  package func stop() {
    state.withLock { $0.isStopping = true }
    for _ in 0..<threads { wakeUp.signal() }
    while state.withLock({ $0.threads > 0 }) { usleep(5_000) }
  }

  private func startThread() {
    if StartedThread.detached({ [self] in work() }) { return }
    // Without a single thread the jobs would wait for ever: done here, late rather than never.
    let isAlone = state.withLock { state in
      state.threads -= 1
      return state.threads == 0
    }
    if isAlone { while let job = take() { job() } }
  }

  private func take() -> (@Sendable () -> Void)? {
    state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
  }

  private func work() {
    while true {
      if let job = take() {
        job()
        continue
      }
      let isOver = state.withLock { state in
        if state.isStopping, state.waiting.isEmpty {
          state.threads -= 1
          return true
        }
        state.idle += 1
        return false
      }
      if isOver { return }
      wakeUp.wait()
      state.withLock { $0.idle -= 1 }
    }
  }
}

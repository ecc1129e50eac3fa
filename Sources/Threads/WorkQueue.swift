/// Work that threads of its own do in its order: what waits for disks, databases or deliberate slowness, and thus never
/// may run on an event loop. A thread begins when there is work for it, and stays.
package final class WorkQueue: @unchecked Sendable {
  // Sendable: what changes is touched under `monitor` only.
  private let monitor = Monitor()
  private var waiting: [@Sendable () -> Void] = []
  private var idle = 0
  private var running = 0
  private var isStopping = false
  private let threads: Int
  private let capacity: Int

  /// - Parameters:
  ///   - threads: how much is done at a time, at most.
  ///   - capacity: jobs that may wait.
  package init(threads: Int, capacity: Int) { (self.threads, self.capacity) = (threads, capacity) }

  /// Has `job` done; false where the queue is full or ends, and then it is not.
  /// - Parameter always: also where the queue is full: clearing up after a client that is gone.
  package func submit(always: Bool = false, _ job: @escaping @Sendable () -> Void) -> Bool {
    monitor.lock()
    guard !isStopping, always || waiting.count < capacity else {
      monitor.unlock()
      return false
    }
    waiting.append(job)
    let needsThread = idle < waiting.count && running < threads
    // Whoever waits for the end of the queue does so only once it takes no more.
    if needsThread { running += 1 } else { monitor.wakeOne() }
    monitor.unlock()
    if needsThread, !StartedThread.detached({ [self] in work(isOnly: false) }) {
      // Without a single thread the jobs would wait for ever: done here, late rather than never.
      work(isOnly: true)
    }
    return true
  }

  /// Takes no more jobs and returns when those that it had are done.
  package func stop() {
    monitor.lock()
    defer { monitor.unlock() }
    isStopping = true
    monitor.wakeAll()
    while running > 0 { monitor.wait() }
  }

  /// - Parameter isOnly: for want of a thread: leaves the work to others where there are any, and does not wait for more.
  private func work(isOnly: Bool) {
    monitor.lock()
    defer {
      running -= 1
      monitor.wakeAll()
      monitor.unlock()
    }
    if isOnly, running > 1 { return }
    while true {
      if !waiting.isEmpty {
        let job = waiting.removeFirst()
        monitor.unlock()
        job()
        monitor.lock()
      } else if isOnly || isStopping {
        return
      } else {
        idle += 1
        monitor.wait()
        idle -= 1
      }
    }
  }
}

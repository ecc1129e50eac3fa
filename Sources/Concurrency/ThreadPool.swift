/// A pool of threads with a queue of jobs in order. The jobs wait for disks, databases or deliberate slowness, and thus
/// must never run on an event loop. A thread starts when there is a job for it, and stays.
package final class ThreadPool: @unchecked Sendable {
  // Sendable: mutable state is accessed under `monitor` only.
  private let monitor = ConditionLock()
  private var waiting: [@Sendable () -> Void] = []
  private var idle = 0
  private var running = 0
  private var isStopping = false
  private let threads: Int
  private let capacity: Int

  /// - Parameters:
  ///   - threads: the maximum number of jobs that run at a time.
  ///   - capacity: the maximum number of waiting jobs.
  package init(threads: Int, capacity: Int) {
    self.threads = threads
    self.capacity = capacity
  }

  /// Submits `job`; false if the queue is full or stopping, and then the job is not run.
  /// - Parameter always: whether the job is accepted by a full queue: it cleans up after a client that is gone.
  package func submit(always: Bool = false, _ job: @escaping @Sendable () -> Void) -> Bool {
    monitor.lock()
    guard !isStopping, always || waiting.count < capacity else {
      monitor.unlock()
      return false
    }
    waiting.append(job)
    let needsThread = idle < waiting.count && running < threads
    // A caller of `stop` waits only after the queue has stopped accepting jobs.
    if needsThread { running += 1 } else { monitor.wakeOne() }
    monitor.unlock()
    if needsThread, !StartedThread.detached({ [self] in work(isOnly: false) }) {
      // Without a single thread the jobs would wait for ever, so they run here.
      work(isOnly: true)
    }
    return true
  }

  /// Stops accepting jobs and returns when all accepted ones are done.
  package func stop() {
    monitor.lock()
    defer { monitor.unlock() }
    isStopping = true
    monitor.wakeAll()
    while running > 0 { monitor.wait() }
  }

  /// - Parameter isOnly: whether no thread could be started. Then the work is left to other threads, if there are any,
  ///   and the call does not wait for more.
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

/// The threads on which a server's tasks run, so that they do not depend on the cooperative pool of the process, which
/// may be blocked. Tasks that run here must not block either.
package final class TaskThreads: TaskExecutor {
  private let queue: ThreadPool

  /// - Parameter threads: the number of tasks that run at a time.
  package init(threads: Int) { queue = ThreadPool(threads: threads, capacity: .max) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isTaken = queue.submit(always: true) { [self] in
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
    // After the end, the thread that resumes a task runs the rest of it.
    if !isTaken { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Ends the threads after the waiting tasks have run.
  package func stop() { queue.stop() }
}

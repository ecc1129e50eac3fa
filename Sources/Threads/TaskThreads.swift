/// The threads on which a server's tasks run, so that nothing that blocks the cooperative pool of the process holds them up.
/// Tasks that run here must not block either.
package final class TaskThreads: TaskExecutor {
  private let queue: WorkQueue

  /// - Parameter threads: the number of tasks that run at a time.
  package init(threads: Int) { queue = WorkQueue(threads: threads, capacity: .max) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isTaken = queue.submit(always: true) { [self] in
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
    // What a task still has to do after the end is done by the thread that resumes it.
    if !isTaken { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Ends the threads, when the tasks that wait for them have run.
  package func stop() { queue.stop() }
}

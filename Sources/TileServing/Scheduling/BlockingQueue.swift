import Synchronization
import ZigguratConcurrency
import ZigguratHTTPMessages
import ZigguratTileRendering

/// Runs work that may block on a thread of its own, one job after the other. Clients are scheduled by `FairQueue`,
/// and the number of waiting jobs is bounded.
///
/// If the queue is full, the client with the most jobs loses its last one to a client with fewer.
final class BlockingQueue: Sendable {
  private struct Job {
    let client: ClientAddress
    let run: @Sendable () -> Void
    let refuse: @Sendable () -> Void
  }

  private struct State {
    var waiting: [Int: Job] = [:]
    var turns = FairQueue<Int>()
    var arrivals = 0
    /// The number of waiting jobs, including the running one.
    var count = 0
    var isStopping = false

    mutating func add(_ job: Job) {
      arrivals += 1
      count += 1
      waiting[arrivals] = job
      turns.add(arrivals, of: job.client, cost: 1)
    }

    mutating func next() -> Job? { turns.next().flatMap { waiting.removeValue(forKey: $0) } }

    /// Removes the last job of the client with the most waiting jobs, if these are more than `client` would have
    /// with one more.
    mutating func dropFromHeaviestClient(besides client: ClientAddress) -> Job? {
      let heaviest = turns.waiting.max { turns.count(of: $0) < turns.count(of: $1) }
      guard let heaviest, turns.count(of: heaviest) > turns.count(of: client) + 1 else { return nil }
      count -= 1
      return turns.takeLast(of: heaviest).flatMap { waiting.removeValue(forKey: $0) }
    }
  }

  private let queue = ThreadPool(threads: 1, capacity: .max)
  private let capacity: Int
  private let state = Mutex(State())

  /// - Parameter capacity: the maximum number of jobs that wait or run.
  init(capacity: Int) { self.capacity = capacity }

  /// Runs `work` on the queue's thread when it is scheduled.
  /// - Returns: its result; `nil` if the queue was full or has stopped, or if the task was cancelled before
  ///   `work` started.
  func run<Result: Sendable>(
    for client: ClientAddress, _ work: @escaping @Sendable () -> Result
  ) async -> Result? {
    let cancellation = Cancellation()
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Result?, Never>) in
        submit(
          Job(
            client: client, run: { continuation.resume(returning: cancellation.isAsked ? nil : work()) },
            refuse: { continuation.resume(returning: nil) }))
      }
    } onCancel: {
      cancellation.ask()
    }
  }

  /// Returns a reply that `work` makes on the queue's thread.
  /// - Parameter refused: called if `work` is not run.
  func reply(
    for client: ClientAddress, _ work: @escaping @Sendable () -> Reply,
    ifRefused refused: (@Sendable () -> Void)? = nil
  ) -> Reply {
    .task { [self] in
      guard let reply = await run(for: client, work) else {
        refused?()
        return .tooMuchWork
      }
      return await reply.response()
    }
  }

  private func submit(_ new: Job) {
    var refused: Job?
    let isTaken = state.withLock { state -> Bool in
      refused = new
      guard !state.isStopping else { return false }
      if state.count >= capacity {
        guard let last = state.dropFromHeaviestClient(besides: new.client) else { return false }
        refused = last
      } else {
        refused = nil
      }
      state.add(new)
      return true
    }
    // For a job that was dropped meanwhile, this finds nothing to do. A queue that has stopped meanwhile refuses
    // the job here.
    if isTaken, !queue.submit({ [self] in runNext() }) { runNext() }
    refused?.refuse()
  }

  private func runNext() {
    let (next, isStopping) = state.withLock { ($0.next(), $0.isStopping) }
    guard let next else { return }
    if isStopping { next.refuse() } else { next.run() }
    state.withLock { $0.count -= 1 }
  }

  /// The number of jobs that have not started.
  var waiting: Int { state.withLock { $0.waiting.count } }
  var isRunning: Bool { state.withLock { $0.count > $0.waiting.count } }
  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Refuses waiting jobs and waits for the running one. No task is left suspended here afterwards.
  func stop() {
    state.withLock { $0.isStopping = true }
    queue.stop()
  }
}

extension Response {
  static let tooMuchWork = problem(503, "Busy", "the server is busy; try again")
}

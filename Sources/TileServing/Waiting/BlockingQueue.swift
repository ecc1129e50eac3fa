import Synchronization
import ZigguratHTTPMessages
import ZigguratThreads
import ZigguratTileRendering

/// Runs work that may block on a thread of its own, one piece after the other. Clients have their turns by `FairTurns`, and
/// a bounded number of pieces waits.
///
/// If as many wait as may, the client that has the most of them loses its last to a client with fewer.
final class BlockingQueue: Sendable {
  private struct Job {
    let client: ClientAddress
    let run: @Sendable () -> Void
    let refuse: @Sendable () -> Void
  }

  private struct State {
    var waiting: [Int: Job] = [:]
    var turns = FairTurns<Int>()
    var arrivals = 0
    /// The number of jobs that wait, and of the one that runs.
    var count = 0
    var isStopping = false

    mutating func add(_ job: Job) {
      arrivals += 1
      count += 1
      waiting[arrivals] = job
      turns.add(arrivals, of: job.client, cost: 1)
    }

    mutating func next() -> Job? { turns.next().flatMap { waiting.removeValue(forKey: $0) } }

    /// The last of the client that has the most waiting, if that is more than `client` would have with one more.
    mutating func takeLastOfCrowd(besides client: ClientAddress) -> Job? {
      let crowd = turns.waiting.max { turns.count(of: $0) < turns.count(of: $1) }
      guard let crowd, turns.count(of: crowd) > turns.count(of: client) + 1 else { return nil }
      count -= 1
      return turns.takeLast(of: crowd).flatMap { waiting.removeValue(forKey: $0) }
    }
  }

  private let queue = WorkQueue(threads: 1, capacity: .max)
  private let capacity: Int
  private let state = Mutex(State())

  /// - Parameter capacity: the number of jobs that wait or run.
  init(capacity: Int) { self.capacity = capacity }

  /// Runs `work` on the queue's thread when its turn has come.
  /// - Returns: its result; nil if there was no room for it, the task was cancelled before its turn, or the queue has stopped.
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

  /// A reply that `work` makes on the queue's thread.
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
        guard let last = state.takeLastOfCrowd(besides: new.client) else { return false }
        refused = last
      } else {
        refused = nil
      }
      state.add(new)
      return true
    }
    // For one that has lost its place this finds nothing to do. A queue that has ended meanwhile refuses it here.
    if isTaken, !queue.submit({ [self] in runNext() }) { runNext() }
    refused?.refuse()
  }

  private func runNext() {
    let (next, isStopping) = state.withLock { ($0.next(), $0.isStopping) }
    guard let next else { return }
    if isStopping { next.refuse() } else { next.run() }
    state.withLock { $0.count -= 1 }
  }

  /// The number of jobs that do not run yet.
  var waiting: Int { state.withLock { $0.waiting.count } }
  var isRunning: Bool { state.withLock { $0.count > $0.waiting.count } }
  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Refuses what waits and waits for what runs: afterwards no task is left suspended here.
  func stop() {
    state.withLock { $0.isStopping = true }
    queue.stop()
  }
}

extension Response {
  static let tooMuchWork = problem(503, "Busy", "the server is busy; try again")
}

import Synchronization
import ZigguratHTTPMessages
import ZigguratThreads

/// Makes answers that take long one after the other, clients having their turns by `FairTurns`; a bounded number waits.
///
/// Where as many wait as may, who has the most of them loses his last to a client with fewer.
final class AnswerQueue: Sendable {
  private struct Job {
    let client: ClientAddress
    let work: @Sendable () -> Answer
    let refused: @Sendable () -> Void
    let waiter: Later.Waiter

    func make() { work().give(to: waiter) }

    func refuse() {
      refused()
      waiter.take(.tooMuchWork)
    }
  }

  private struct State {
    var waiting: [Int: Job] = [:]
    var turns = FairTurns<Int>()
    var arrivals = 0
    /// Those that wait, and the one that is being made.
    var count = 0
    var isStopping = false

    mutating func add(_ job: Job) {
      arrivals += 1
      count += 1
      waiting[arrivals] = job
      turns.add(arrivals, of: job.client, cost: 1)
    }

    mutating func next() -> Job? { turns.next().flatMap { waiting.removeValue(forKey: $0) } }

    /// The last of the client that has the most waiting, where that is more than `client` would have with one more.
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

  /// - Parameter capacity: answers that wait or are being made.
  init(capacity: Int) { self.capacity = capacity }

  /// An answer that `work` makes when its turn has come.
  /// - Parameters:
  ///   - client: whose turn it is.
  ///   - refused: called instead of `work` where there is no room for it.
  func later(
    for client: ClientAddress, refused: @escaping @Sendable () -> Void = {},
    _ work: @escaping @Sendable () -> Answer
  ) -> Later {
    Later { [self] waiter in submit(Job(client: client, work: work, refused: refused, waiter: waiter)) }
  }

  private func submit(_ new: Job) {
    let (isTaken, refused) = state.withLock { state -> (Bool, Job?) in
      guard !state.isStopping else { return (false, new) }
      var last: Job?
      if state.count >= capacity {
        last = state.takeLastOfCrowd(besides: new.client)
        guard last != nil else { return (false, new) }
      }
      state.add(new)
      return (true, last)
    }
    // For one that has lost its place this finds nothing to do. A queue that has ended meanwhile refuses it here.
    if isTaken, !queue.submit({ [self] in makeNext() }) { makeNext() }
    refused?.refuse()
  }

  private func makeNext() {
    let (next, isStopping) = state.withLock { ($0.next(), $0.isStopping) }
    guard let next else { return }
    if isStopping { next.refuse() } else { next.make() }
    state.withLock { $0.count -= 1 }
  }

  /// Answers that nobody makes yet.
  var waiting: Int { state.withLock { $0.waiting.count } }
  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Refuses what waits and waits for what is being made: afterwards nobody is called any more.
  func stop() {
    state.withLock { $0.isStopping = true }
    queue.stop()
  }
}

extension Response {
  static let tooMuchWork = problem(503, "Busy", "the server is busy; try again")
}

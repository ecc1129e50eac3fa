import Dispatch
import HTTPMessages
import Synchronization

/// An answer that takes long to make, for a thread that nobody waits for.
package final class DeferredAnswer: Sendable {
  fileprivate let work: @Sendable () -> Response
  fileprivate let refused: @Sendable () -> Void
  fileprivate let client: ClientAddress
  fileprivate let queue: WorkQueue

  /// - Parameters:
  ///   - client: whose turn it is.
  ///   - refused: called instead of `work` where there is no room for it.
  init(
    in queue: WorkQueue, for client: ClientAddress, refused: @escaping @Sendable () -> Void = {},
    _ work: @escaping @Sendable () -> Response
  ) {
    (self.queue, self.client, self.refused, self.work) = (queue, client, refused, work)
  }

  /// Has it made; `take` is called once, by any thread, with the answer or with the refusal of a full queue.
  package func make(_ take: @escaping @Sendable (Response) -> Void) { queue.submit(self, take) }
}

/// Makes deferred answers one after the other, clients having their turns by `FairTurns`; a bounded number waits.
///
/// Where as many wait as may, who has the most of them loses his last to a client with fewer.
final class WorkQueue: Sendable {
  private struct Waiter {
    let answer: DeferredAnswer
    let take: @Sendable (Response) -> Void

    func refuse() {
      answer.refused()
      take(.tooMuchWork)
    }
  }

  private struct State {
    var waiting: [Int: Waiter] = [:]
    var turns = FairTurns<Int>()
    var arrivals = 0
    /// Those that wait, and the one that is being made.
    var count = 0
    var isStopping = false

    mutating func add(_ waiter: Waiter) {
      arrivals += 1
      count += 1
      waiting[arrivals] = waiter
      turns.add(arrivals, of: waiter.answer.client, cost: 1)
    }

    mutating func next() -> Waiter? { turns.next().flatMap { waiting.removeValue(forKey: $0) } }

    /// The last of the client that has the most waiting, where that is more than `client` would have with one more.
    mutating func takeLastOfCrowd(besides client: ClientAddress) -> Waiter? {
      let crowd = turns.waiting.max { turns.count(of: $0) < turns.count(of: $1) }
      guard let crowd, turns.count(of: crowd) > turns.count(of: client) + 1 else { return nil }
      count -= 1
      return turns.takeLast(of: crowd).flatMap { waiting.removeValue(forKey: $0) }
    }
  }

  private let queue: DispatchQueue
  private let capacity: Int
  private let state = Mutex(State())

  /// - Parameter capacity: answers that wait or are being made.
  init(_ name: String, capacity: Int) {
    queue = DispatchQueue(label: name)
    self.capacity = capacity
  }

  fileprivate func submit(_ answer: DeferredAnswer, _ take: @escaping @Sendable (Response) -> Void) {
    let new = Waiter(answer: answer, take: take)
    let refused: Waiter? = state.withLock { state in
      guard !state.isStopping else { return new }
      var last: Waiter?
      if state.count >= capacity {
        last = state.takeLastOfCrowd(besides: answer.client)
        guard last != nil else { return new }
      }
      state.add(new)
      // For one that has lost its place this finds nothing to do.
      queue.async { [self] in makeNext() }
      return last
    }
    refused?.refuse()
  }

  private func makeNext() {
    let (next, isStopping) = state.withLock { ($0.next(), $0.isStopping) }
    guard let next else { return }
    if isStopping { next.refuse() } else { next.take(next.answer.work()) }
    state.withLock { $0.count -= 1 }
  }

  /// Answers that nobody makes yet.
  var waiting: Int { state.withLock { $0.waiting.count } }
  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Refuses what waits and waits for what is being made: afterwards nobody is called any more.
  func stop() {
    state.withLock { $0.isStopping = true }
    queue.sync {}
  }
}

extension Response {
  static let tooMuchWork = problem(503, "Busy", "too much is being done already; try again")
}

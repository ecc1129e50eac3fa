import Dispatch
import Synchronization

/// An answer that takes long to make, for a thread that nobody waits for.
public final class DeferredAnswer: Sendable {
  fileprivate let work: @Sendable () -> Response
  fileprivate let queue: WorkQueue

  init(in queue: WorkQueue, _ work: @escaping @Sendable () -> Response) {
    (self.queue, self.work) = (queue, work)
  }

  /// Has it made; `take` is called once, by another thread, with the answer or with the refusal of a full queue.
  public func make(_ take: @escaping @Sendable (Response) -> Void) { queue.submit(self, take) }
}

/// Makes deferred answers one after the other; a bounded number waits.
final class WorkQueue: Sendable {
  private struct State {
    var waiting = 0
    var isStopping = false
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
    let isTaken = state.withLock { state in
      guard !state.isStopping, state.waiting < capacity else { return false }
      state.waiting += 1
      return true
    }
    guard isTaken else { return take(.tooMuchWork) }
    queue.async { [self] in
      let isStopping = state.withLock { $0.isStopping }
      take(isStopping ? .tooMuchWork : answer.work())
      state.withLock { $0.waiting -= 1 }
    }
  }

  /// Refuses what waits and waits for what is being made: afterwards nobody is called any more.
  func stop() {
    state.withLock { $0.isStopping = true }
    queue.sync {}
  }
}

extension Response {
  static let tooMuchWork = problem(503, "Busy", "too much is being done already; try again")
}

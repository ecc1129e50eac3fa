import Synchronization
package import TileStorage
import ZigguratFiles

/// A client that reads from a bucket of an S3 store, with timeouts and retries.
package final class ObjectClient: ObjectReading {
  private struct State {
    var policy: RequestPolicy
    var waiting = 0
  }

  /// Counters since the start of a client.
  package struct Counts: Sendable {
    package var requests = 0
    package var retries = 0
    package var bytes = 0
    package var errors = 0
  }

  /// The state that the client shares with its thread, which lives until the client ends.
  private final class Shared: Sendable {
    let state: Mutex<State>
    let counts = Mutex(Counts())
    let policy: RequestPolicy
    let thread = Mutex<TransferThread?>(nil)

    init(_ policy: RequestPolicy) {
      state = Mutex(State(policy: policy))
      self.policy = policy
    }

    /// Handles the end of an attempt: retries the request, or passes the result to the caller.
    func ended(_ call: RangeCall, _ result: Result<ObjectTail, ObjectError>) {
      let now = ContinuousClock.now
      var again: Duration?
      let error: ObjectError? = if case .failure(let error) = result { error } else { nil }
      state.withLock { state in
        state.policy.breaker.note(hasAnswered: error?.isTimeout != true, at: now)
        let pause = error == nil ? .zero : policy.pause.backoff(after: call.attempt)
        if error?.isRetryable == true, call.attempt < policy.tries, now + pause < call.deadline,
          state.policy.breaker.admits(at: now), state.policy.retries.spend()
        {
          again = pause
        } else {
          state.waiting -= 1
        }
      }
      counts.withLock { counts in
        counts.requests += 1
        if error != nil { counts.errors += 1 }
        if case .success(let end) = result { counts.bytes += end.bytes.bytes.count }
        if again != nil { counts.retries += 1 }
      }
      if let again {
        if thread.withLock({ $0 })?.submit(call.next, at: now + again) == true { return }
        state.withLock { $0.waiting -= 1 }
      }
      call.done(result)
    }
  }

  private let shared: Shared
  private let thread: TransferThread

  /// - Returns: nil if there is no memory or no thread for it.
  package init?(
    _ address: ObjectAddress, _ settings: ObjectSettings, _ policy: RequestPolicy = RequestPolicy()
  ) {
    let shared = Shared(policy)
    guard
      let thread = TransferThread(settings, address.bucket, policy, { shared.ended($0, $1) })
    else { return nil }
    shared.thread.withLock { $0 = thread }
    self.shared = shared
    self.thread = thread
  }

  deinit {
    thread.stop()
    shared.thread.withLock { $0 = nil }
  }

  package var counts: Counts { shared.counts.withLock { $0 } }

  /// Whether the store gets only probes, because it does not answer.
  package var isCutOff: Bool { shared.state.withLock { $0.policy.breaker.isOpen } }

  package func read(
    _ version: ObjectVersion, _ range: Range<Int>, by deadline: ContinuousClock.Instant,
    _ done: @escaping @Sendable (Result<ObjectBytes, ObjectError>) -> Void
  ) {
    // A listed or stored version may be invalid, and becomes part of a header.
    guard !range.isEmpty, range.lowerBound >= 0, range.upperBound <= version.byteCount,
      ResponseHead.isTag(version.etag)
    else { return done(.failure(.invalidRequest)) }
    ask(.part(version, range), by: deadline) { done($0.map(\.bytes)) }
  }

  package func readEnd(
    ofKey key: String, atMost count: Int, by deadline: ContinuousClock.Instant,
    _ done: @escaping @Sendable (Result<ObjectTail, ObjectError>) -> Void
  ) {
    guard count > 0 else { return done(.failure(.invalidRequest)) }
    ask(.end(key: key, atMost: count), by: deadline, done)
  }

  private func ask(
    _ question: RangeRequest, by deadline: ContinuousClock.Instant,
    _ done: @escaping @Sendable (Result<ObjectTail, ObjectError>) -> Void
  ) {
    guard ObjectAddress.isReadable(question.key) else { return done(.failure(.invalidRequest)) }
    let now = ContinuousClock.now
    let isAdmitted = shared.state.withLock { state in
      guard state.waiting < state.policy.waiting, state.policy.breaker.admits(at: now) else {
        return false
      }
      state.policy.retries.earn()
      state.waiting += 1
      return true
    }
    guard isAdmitted else { return done(.failure(.unavailable)) }
    let call = RangeCall(question, by: min(deadline, now + shared.policy.whole), done)
    if !thread.submit(call, at: now) {
      shared.state.withLock { $0.waiting -= 1 }
      done(.failure(.unavailable))
    }
  }
}

extension ObjectError {
  /// Returns the error of a request for a bucket as a whole.
  func ofBucket(_ action: String) -> StorageError {
    StorageError(action, self == .missing ? "there is no such bucket" : description, kind: kind)
  }

  /// Whether a retry of the same request may succeed soon.
  var isRetryable: Bool {
    switch self {
    case .cut, .damaged, .unavailable: true
    case .missing, .otherVersion, .refused, .insecure, .invalidRequest: false
    }
  }

  /// Whether the store counts as failing for the circuit breaker. It did not answer, not completely, or with the status
  /// of an overload.
  var isTimeout: Bool {
    switch self {
    case .cut, .unavailable, .insecure: true
    case .missing, .otherVersion, .refused, .damaged, .invalidRequest: false
    }
  }
}

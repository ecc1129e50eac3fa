import Glibc
import Synchronization
import TileRendering

/// Renders on threads of its own, of lower priority than those that answer; equal jobs in flight are
/// rendered once, finished ones are kept in memory as long as there is room.
public final class RenderQueue: Sendable {
  /// Someone who waits for a picture.
  public struct Waiter: Sendable {
    /// False once the client is gone: nobody renders for him.
    let isThere: @Sendable () -> Bool
    /// Called once, by a render thread.
    let take: @Sendable (RenderOutcome) -> Void

    public init(isThere: @escaping @Sendable () -> Bool, take: @escaping @Sendable (RenderOutcome) -> Void) {
      (self.isThere, self.take) = (isThere, take)
    }
  }

  /// What `/metrics` tells.
  public struct Counts: Sendable {
    public var rendered = 0
    public var shared = 0
    public var cacheHits = 0
    public var refused = 0
    public var abandoned = 0
    public var waiting = 0
    public var cachedBytes = 0
  }

  private struct State {
    var cache: LeastRecentlyUsed<String, RenderedBytes>
    /// In the order of arrival; those whose turn has come are taken off.
    var waiting: [RenderJob] = []
    var waiters: [String: [Waiter]] = [:]
    var running = 0
    var threads = 0
    var isStopping = false
    var counts = Counts()
  }

  private let state: Mutex<State>
  private let wakeUp: Semaphore
  private let threads: Int
  private let capacity: Int

  init(_ options: RenderOptions) {
    (threads, capacity) = (options.threads, options.queue)
    state = Mutex(State(cache: LeastRecentlyUsed(limit: options.cacheBytes / 2)))
    wakeUp = Semaphore()
  }

  public var counts: Counts {
    state.withLock { state in
      var counts = state.counts
      (counts.waiting, counts.cachedBytes) = (state.waiting.count, state.cache.weight)
      return counts
    }
  }

  /// The picture, if it is kept.
  public func finished(_ job: RenderJob) -> RenderedBytes? {
    state.withLock { state in
      let found = state.cache.value(for: job.key)
      if found != nil { state.counts.cacheHits += 1 }
      return found
    }
  }

  /// Lets go of all pictures that are kept.
  func forget() { state.withLock { $0.cache.removeAll() } }

  /// Has the job done; false where the queue is full or ends, and then the waiter is not called.
  public func submit(_ job: RenderJob, _ waiter: Waiter) -> Bool {
    let (isTaken, isNew, needsThread) = state.withLock { state -> (Bool, Bool, Bool) in
      if state.isStopping { return (false, false, false) }
      if state.waiters[job.key] != nil {
        state.waiters[job.key]!.append(waiter)
        state.counts.shared += 1
        return (true, false, false)
      }
      guard state.waiting.count < capacity else {
        state.counts.refused += 1
        return (false, false, false)
      }
      state.waiters[job.key] = [waiter]
      state.waiting.append(job)
      let needsThread = state.threads < threads
      if needsThread { state.threads += 1 }
      return (true, true, needsThread)
    }
    if needsThread { startThread() }
    if isNew { wakeUp.signal() }
    return isTaken
  }

  /// Refuses what waits and waits for what is being rendered: afterwards no waiter is left.
  public func stop() {
    let waiting = state.withLock { state in
      state.isStopping = true
      let keys = state.waiting.map(\.key)
      state.waiting = []
      return keys.flatMap { state.waiters.removeValue(forKey: $0) ?? [] }
    }
    for waiter in waiting { waiter.take(.refused(.busy)) }
    for _ in 0..<threads { wakeUp.signal() }
    while state.withLock({ $0.running > 0 }) { usleep(5_000) }
  }

  private func startThread() {
    let isStarted = DetachedThread.start { [self] in
      // For this thread alone, as Linux has it: tiles go first. Not the lowest, since a thread that is kept
      // from running while it resumes a connection keeps that connection's loop waiting.
      setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
      work()
    }
    if !isStarted { state.withLock { $0.threads -= 1 } }
  }

  private func work() {
    while true {
      wakeUp.wait()
      let job = state.withLock { state -> RenderJob? in
        if state.isStopping || state.waiting.isEmpty { return nil }
        state.running += 1
        return state.waiting.removeFirst()
      }
      guard let job else {
        if state.withLock({ $0.isStopping }) { return }
        continue
      }
      run(job)
      state.withLock { $0.running -= 1 }
    }
  }

  private func run(_ job: RenderJob) {
    let waiters = state.withLock { $0.waiters[job.key] ?? [] }
    let outcome: RenderOutcome
    if waiters.contains(where: { $0.isThere() }) {
      do throws(RenderError) {
        outcome = .done(RenderedBytes(try job.work()))
      } catch {
        // The reason is the operator's; a client is told no more than that it failed.
        outcome = .refused(job.failure)
      }
    } else {
      state.withLock { $0.counts.abandoned += 1 }
      outcome = .refused(.busy)
    }
    let all = state.withLock { state in
      if case .done(let bytes) = outcome {
        state.counts.rendered += 1
        // Asked here, so that nothing comes after `forget`.
        if job.mayBeKept() {
          state.cache.insert(bytes, for: job.key, weight: bytes.bytes.count + job.key.utf8.count + 256)
        }
      }
      return state.waiters.removeValue(forKey: job.key) ?? []
    }
    for waiter in all { waiter.take(outcome) }
  }
}

/// Counts wake-ups of threads.
// Sendable: sem_t is made for threads; it is allocated once and stays where it is.
final class Semaphore: @unchecked Sendable {
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() { sem_init(semaphore, 0, 0) }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  func signal() { sem_post(semaphore) }

  func wait() {
    while sem_wait(semaphore) != 0, errno == EINTR {}
  }
}

extension Response {
  /// The render queue is full.
  public static let busy: Response = {
    var response = text(503, "too many pictures are being rendered; try again")
    response.headers.append(("Retry-After", "1"))
    return response
  }()
}

import Glibc
import Synchronization
import TileRendering

/// Renders on threads of its own, of lower priority than those that answer; equal jobs in flight are
/// rendered once, finished ones are kept in memory as long as there is room.
///
/// One more thread, of ordinary priority, hands out the jobs and tells those who wait.
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
    /// The thread that hands out jobs is there.
    var hasThread = false
    var isStopping = false
    var counts = Counts()
  }

  private let state: Mutex<State>
  /// A job waits or is done, or no more are to come.
  private let wakeUp = Semaphore()
  private let threads: Int
  private let capacity: Int
  private let loops: EventLoops

  /// - Parameter loops: those that are to go first.
  init(_ options: RenderOptions, _ loops: EventLoops = EventLoops()) {
    (threads, capacity) = (options.threads, options.queue)
    self.loops = loops
    state = Mutex(State(cache: LeastRecentlyUsed(limit: options.cacheBytes / 2)))
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
    let (isTaken, isNew) = state.withLock { state in
      if state.isStopping { return (false, false) }
      if state.waiters[job.key] != nil {
        state.waiters[job.key]!.append(waiter)
        state.counts.shared += 1
        return (true, false)
      }
      guard state.waiting.count < capacity, startThread(&state) else {
        state.counts.refused += 1
        return (false, false)
      }
      state.waiters[job.key] = [waiter]
      state.waiting.append(job)
      return (true, true)
    }
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
    wakeUp.signal()
    while state.withLock({ $0.hasThread }) { usleep(5_000) }
  }

  private func startThread(_ state: inout State) -> Bool {
    if !state.hasThread { state.hasThread = DetachedThread.start { [self] in handOut() } }
    return state.hasThread
  }

  /// Until the queue stops and every job that was begun is done.
  private func handOut() {
    var renderers: [RenderThread] = []
    var pace = RenderPace(loops)
    var isHeldBack = false
    while true {
      wakeUp.wait(upTo: isHeldBack ? pace.pause : nil)
      for renderer in renderers { if let (job, outcome) = renderer.finished() { finish(job, outcome) } }
      isHeldBack = false
      while state.withLock({ !$0.waiting.isEmpty }),
        renderers.count < threads || renderers.contains(where: \.isIdle)
      {
        guard
          pace.mayBegin(
            renderSeconds: { renderers.reduce(0) { $0 + $1.seconds } },
            isIdle: { renderers.allSatisfy(\.isIdle) })
        else {
          isHeldBack = true
          break
        }
        guard let job = next() else { break }
        if let renderer = idle(&renderers) { renderer.make(job) } else { finish(job, .refused(.busy)) }
      }
      if state.withLock({ $0.isStopping }), renderers.allSatisfy(\.isIdle) { break }
    }
    for renderer in renderers { renderer.make(nil) }
    state.withLock { $0.hasThread = false }
  }

  /// One that has nothing to do, or else a new one; nil where the system gives none.
  private func idle(_ renderers: inout [RenderThread]) -> RenderThread? {
    if let renderer = renderers.first(where: \.isIdle) { return renderer }
    let renderer = RenderThread(done: wakeUp)
    guard renderer.start() else { return nil }
    renderers.append(renderer)
    return renderer
  }

  /// The job whose turn it is, of those that somebody still waits for.
  private func next() -> RenderJob? {
    while true {
      let found = state.withLock { state -> (job: RenderJob, waiters: [Waiter])? in
        if state.isStopping || state.waiting.isEmpty { return nil }
        let job = state.waiting.removeFirst()
        return (job, state.waiters[job.key] ?? [])
      }
      guard let (job, waiters) = found else { return nil }
      if waiters.contains(where: { $0.isThere() }) { return job }
      state.withLock { $0.counts.abandoned += 1 }
      finish(job, .refused(.busy))
    }
  }

  private func finish(_ job: RenderJob, _ outcome: RenderOutcome) {
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

  /// - Parameter seconds: at most so long; nil for ever.
  func wait(upTo seconds: Double? = nil) {
    guard let seconds else {
      while sem_wait(semaphore) != 0, errno == EINTR {}
      return
    }
    var end = timespec()
    clock_gettime(CLOCK_REALTIME, &end)
    let nanoseconds = end.tv_nsec + Int(seconds * 1e9)
    end.tv_sec += nanoseconds / 1_000_000_000
    end.tv_nsec = nanoseconds % 1_000_000_000
    while sem_timedwait(semaphore, &end) != 0, errno == EINTR {}
  }
}

extension Response {
  /// To a picture of a pyramid without its coarse levels, which too many tiles would have to be read for.
  static func outOfReach(insteadOf failure: Response) -> Response {
    let text = "the coarse levels of this pyramid are not stored, and this picture would need too many tiles"
    let isProblem = failure.header("Content-Type") == "application/problem+json"
    return isProblem ? .problem(404, "Not stored", text) : self.text(404, text)
  }

  /// The render queue is full.
  public static let busy: Response = {
    var response = text(503, "too many pictures are being rendered; try again")
    response.headers.append(("Retry-After", "1"))
    return response
  }()
}

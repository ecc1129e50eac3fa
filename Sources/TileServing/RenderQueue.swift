import Glibc
import Synchronization
import TileRendering

/// Renders on threads of its own, of lower priority than those that answer; equal jobs in flight are
/// rendered once, finished ones are kept in memory as long as there is room.
///
/// Clients have their turns by `FairTurns`, quick renders on threads that are not there for long ones. One more
/// thread, of ordinary priority, hands out the jobs and tells those who wait.
public final class RenderQueue: Sendable {
  /// Someone who waits for a picture.
  public struct Waiter: Sendable {
    /// Whose turn it is when he is served.
    let client: ClientAddress
    /// False once the client is gone: nobody renders for him.
    let isThere: @Sendable () -> Bool
    /// Called once, by any thread.
    let take: @Sendable (RenderOutcome) -> Void

    public init(
      client: ClientAddress, isThere: @escaping @Sendable () -> Bool,
      take: @escaping @Sendable (RenderOutcome) -> Void
    ) {
      (self.client, self.isThere, self.take) = (client, isThere, take)
    }
  }

  /// What `/metrics` tells.
  public struct Counts: Sendable {
    public var rendered = 0
    public var shared = 0
    public var cacheHits = 0
    public var refused = 0
    public var abandoned = 0
    public var late = 0
    public var waiting = 0
    public var cachedBytes = 0
  }

  private struct State {
    var cache: LeastRecentlyUsed<String, RenderedBytes>
    var waiting: WaitingRenders
    /// The thread that hands out jobs is there.
    var hasThread = false
    var isStopping = false
    var counts = Counts()
  }

  private let state: Mutex<State>
  /// A job waits or is done, or no more are to come.
  private let wakeUp = Semaphore()
  /// Of each lane, by its number.
  private let threads: [Int]
  private let loops: EventLoops
  private let secondsElsewhere: (@Sendable () -> Double)?
  /// Seconds between looks for those who left or waited for too long.
  private static let sweepInterval = 0.1

  /// - Parameters:
  ///   - loops: those that are to go first.
  ///   - secondsElsewhere: processor time that renders have used outside of this process; nil where none is made there.
  init(
    _ options: RenderOptions, _ loops: EventLoops = EventLoops(),
    secondsElsewhere: (@Sendable () -> Double)? = nil
  ) {
    // One more for quick pictures made elsewhere: on a thread whose answer is on its way nothing is done.
    let spare = secondsElsewhere == nil ? 0 : 1
    threads = RenderJob.Lane.allCases.map { options.threads + ($0 == .quick ? spare : 0) }
    (self.loops, self.secondsElsewhere) = (loops, secondsElsewhere)
    state = Mutex(
      State(
        cache: LeastRecentlyUsed(limit: options.cacheBytes / 2),
        waiting: WaitingRenders(capacity: options.queue, timeout: options.timeout)))
  }

  public var counts: Counts {
    state.withLock { state in
      var counts = state.counts
      let tally = state.waiting.tally
      (counts.shared, counts.abandoned, counts.late) = (tally.shared, tally.abandoned, tally.late)
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
    let told = state.withLock { state -> [WaitingRenders.Told]? in
      guard !state.isStopping, startThread(&state),
        let told = state.waiting.add(job, waiter, at: Self.now)
      else {
        if !state.isStopping { state.counts.refused += 1 }
        return nil
      }
      state.counts.refused += told.count
      return told
    }
    guard let told else { return false }
    wakeUp.signal()
    tell(told)
    return true
  }

  /// Refuses what waits and ends what is being rendered: afterwards no waiter is left.
  public func stop() {
    let told = state.withLock { state in
      state.isStopping = true
      return state.waiting.stop()
    }
    tell(told)
    wakeUp.signal()
    while state.withLock({ $0.hasThread }) { usleep(5_000) }
  }

  private static var now: Double { RenderPace.seconds(CLOCK_MONOTONIC) }

  private func tell(_ told: [WaitingRenders.Told]) {
    for (waiter, answer) in told { waiter.take(.refused(answer)) }
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
    var swept = Self.now
    while true {
      let isAtRest = state.withLock { $0.waiting.isEmpty }
      wakeUp.wait(upTo: isHeldBack ? pace.pause : isAtRest ? nil : Self.sweepInterval)
      for renderer in renderers { if let (job, outcome) = renderer.finished() { finish(job, outcome) } }
      if Self.now - swept >= Self.sweepInterval {
        tell(state.withLock { $0.waiting.sweep(at: Self.now) })
        swept = Self.now
      }
      isHeldBack = false
      lanes: for lane in RenderJob.Lane.allCases {
        while renderers.count(where: { $0.lane == lane }) < threads[lane.rawValue],
          state.withLock({ $0.waiting.hasWaiting(in: lane) })
        {
          let mayBegin = pace.mayBegin(
            renderSeconds: { renderers.reduce(secondsElsewhere?() ?? 0) { $0 + $1.seconds } },
            isIdle: { renderers.allSatisfy(\.isIdle) })
          guard mayBegin else {
            isHeldBack = true
            break lanes
          }
          guard let job = next(lane) else { break }
          if let renderer = idle(&renderers) { renderer.make(job) } else { finish(job, .refused(.busy)) }
        }
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

  private func next(_ lane: RenderJob.Lane) -> RenderJob? {
    let (job, told) = state.withLock { state in
      state.isStopping ? (nil, []) : state.waiting.begin(lane, at: Self.now)
    }
    tell(told)
    return job
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
      return state.waiting.end(job)
    }
    for waiter in all { waiter.take(outcome) }
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
  public static let busy = later(1, "too many pictures are being rendered; try again")

  /// The picture was not ready in time.
  static let late = later(30, "the picture was not ready in time; try again later, or ask for fewer pixels")

  private static func later(_ seconds: Int, _ text: String) -> Response {
    var response = self.text(503, text)
    response.headers.append(("Retry-After", "\(seconds)"))
    return response
  }
}

import Glibc
import Synchronization
import TileStorage
import ZigguratConcurrency
package import ZigguratHTTPMessages
import ZigguratTileRendering

/// Renders pictures on threads of lower priority than the event loops. Equal jobs in flight are rendered once;
/// finished pictures are cached while there is room.
///
/// Finished pictures that are not sent yet are bounded by `MemoryQuota`: clients that do not read get no more.
///
/// Clients are scheduled by `FairQueue`, and threads for quick renders run no long ones. One additional thread of
/// normal priority dispatches the jobs and notifies the waiters.
package final class RenderQueue: Sendable {
  /// A client that waits for a picture.
  package struct Waiter: Sendable {
    /// The client to which the job is charged.
    let client: ClientAddress
    /// Whether the client is still connected. A job without connected clients is not rendered.
    let isThere: @Sendable () -> Bool
    /// Called once, from any thread.
    let take: @Sendable (RenderOutcome) -> Void

    package init(
      client: ClientAddress, isThere: @escaping @Sendable () -> Bool,
      take: @escaping @Sendable (RenderOutcome) -> Void
    ) {
      self.client = client
      self.isThere = isThere
      self.take = take
    }
  }

  /// The counters for `/metrics`.
  package struct Counts: Sendable {
    package var rendered = 0
    package var shared = 0
    package var cacheHits = 0
    package var refused = 0
    package var abandoned = 0
    package var late = 0
    package var waiting = 0
    package var cachedBytes = 0
    package var unsentBytes = 0
  }

  private struct State {
    var cache: LRUCache<String, RenderedBytes>
    /// Sizes of pictures in bytes, by the keys of their jobs. It holds more entries than the cache, because a 304
    /// needs the length.
    var lengths = LRUCache<String, Int>(limit: 8192)
    var waiting: RenderBacklog
    /// Whether the dispatching thread runs.
    var hasThread = false
    /// The expected memory of pictures that are being rendered, charged to the clients that wait for them.
    var making: [ObjectIdentifier: [MemoryQuota.Hold]] = [:]
    var isStopping = false
    var counts = Counts()
  }

  private let state: Mutex<State>
  /// Signalled if a job arrives or ends, or if the queue stops.
  private let wakeUp = CountingSemaphore()
  /// The number of threads of each lane, by its raw value.
  private let threads: [Int]
  private let loops: EventLoopCPUTime
  /// The memory of finished pictures that are not sent yet.
  private let unsent: MemoryQuota
  /// The estimated memory of pictures that are being rendered.
  private let making: MemoryQuota
  private let secondsElsewhere: (@Sendable () -> Double)?
  private let sweep: @Sendable () -> Bool
  /// Seconds between checks for clients that disconnected or timed out.
  private static let sweepInterval = 0.1
  /// The interval while there are no requests but renders still hold resources.
  private static let restInterval = 1.0

  /// - Parameters:
  ///   - loops: the event loops, which have priority.
  ///   - secondsElsewhere: returns the processor time of renders outside of this process, in seconds; `nil` if there
  ///     are none.
  ///   - sweep: releases resources that renders no longer need. Returns whether some are left for later.
  init(
    _ options: RenderOptions, _ loops: EventLoopCPUTime = EventLoopCPUTime(),
    secondsElsewhere: (@Sendable () -> Double)? = nil, sweep: @escaping @Sendable () -> Bool = { false }
  ) {
    self.sweep = sweep
    // One more thread for quick pictures that are rendered elsewhere: a thread that returns a result is blocked
    // meanwhile.
    let spare = secondsElsewhere == nil ? 0 : 1
    threads = RenderJob.Lane.allCases.map { options.threads + ($0 == .quick ? spare : 0) }
    self.loops = loops
    self.secondsElsewhere = secondsElsewhere
    unsent = MemoryQuota(limit: options.unsentBytes)
    making = MemoryQuota(limit: options.unsentBytes)
    state = Mutex(
      State(
        cache: LRUCache(limit: options.cacheBytes / 2),
        waiting: RenderBacklog(capacity: options.queue, timeout: options.timeout)))
  }

  package var counts: Counts {
    state.withLock { state in
      var counts = state.counts
      let tally = state.waiting.tally
      counts.shared = tally.shared
      counts.abandoned = tally.abandoned
      counts.late = tally.late
      counts.waiting = state.waiting.count
      counts.cachedBytes = state.cache.weight
      counts.unsentBytes = unsent.total
      return counts
    }
  }

  /// Returns the picture if it is cached and the client's quota admits it.
  /// - Parameter isLast: whether a refusal is final, and thus counted.
  private func finished(_ job: RenderJob, for client: ClientAddress, isLast: Bool) -> RenderOutcome? {
    state.withLock { state in
      guard let found = state.cache.value(for: job.key) else { return nil }
      // The picture counts as unsent, because it may be evicted before the client has read it.
      guard unsent.admits(client) else {
        if isLast { state.counts.refused += 1 }
        return .refused(.busy)
      }
      state.counts.cacheHits += 1
      return .done(found)
    }
  }

  /// Returns a reply whose body is a cached picture or one that is rendered first.
  /// - Parameter head: the response without its body.
  func reply(_ job: RenderJob, _ head: Response, for client: ClientAddress) -> Reply {
    if case .done(let picture)? = finished(job, for: client, isLast: false) {
      return .response(response(head, picture, client))
    }
    var known = head
    if let length = state.withLock({ $0.lengths.value(for: job.key) }) { known.body = .lengthOnly(length) }
    return .task(head: known) { [self] in
      let start = ContinuousClock.now
      var response =
        switch await outcome(of: job, for: client) {
        case .refused(let instead): instead
        case .done(let picture): response(head, picture, client)
        }
      response.timings += job.timings(since: start)
      return response
    }
  }

  private func response(_ head: Response, _ picture: RenderedBytes, _ client: ClientAddress) -> Response {
    // The memory is charged to the client until it is sent.
    Response(
      head.status, head.headers,
      .gathered(
        ScatterGatherBody(
          picture.bytes, keeping: [picture, unsent.hold(picture, of: picture.bytes.count, by: client)]),
        0..<picture.bytes.count))
  }

  private func outcome(of job: RenderJob, for client: ClientAddress) async -> RenderOutcome {
    // The picture may have been rendered for another client since.
    if let finished = finished(job, for: client, isLast: true) { return finished }
    let cancellation = Cancellation()
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<RenderOutcome, Never>) in
        let waiter = Waiter(client: client, isThere: { !cancellation.isAsked }) {
          continuation.resume(returning: $0)
        }
        if !submit(job, waiter) { continuation.resume(returning: .refused(.busy)) }
      }
    } onCancel: {
      cancellation.ask()
    }
  }

  /// Empties the cache.
  func forget() {
    state.withLock { state in
      state.cache.removeAll()
      state.lengths.removeAll()
    }
  }

  /// Submits the job. Returns `false` if the queue is full or has stopped, or if the client has too many unsent
  /// bytes. In that case the waiter is not called.
  func submit(_ job: RenderJob, _ waiter: Waiter) -> Bool {
    let refusals = state.withLock { state -> [RenderBacklog.Rejection]? in
      guard !state.isStopping, unsent.admits(waiter.client), startThread(&state),
        let refusals = state.waiting.add(job, waiter, at: Self.now)
      else {
        if !state.isStopping { state.counts.refused += 1 }
        return nil
      }
      state.counts.refused += refusals.count
      return refusals
    }
    guard let refusals else { return false }
    wakeUp.signal()
    send(refusals)
    return true
  }

  /// Refuses waiting jobs and cancels running ones. No waiter is left afterwards.
  package func stop() {
    let refusals = state.withLock { state in
      state.isStopping = true
      return state.waiting.stop()
    }
    send(refusals)
    wakeUp.signal()
    while state.withLock({ $0.hasThread }) { usleep(5_000) }
  }

  private static var now: Double { RenderThrottle.seconds(CLOCK_MONOTONIC) }

  private func send(_ refusals: [RenderBacklog.Rejection]) {
    for (waiter, answer) in refusals { waiter.take(.refused(answer)) }
  }

  private func startThread(_ state: inout State) -> Bool {
    if !state.hasThread { state.hasThread = StartedThread.detached { [self] in handOut() } }
    return state.hasThread
  }

  /// Dispatches jobs until the queue stops and every started job is done.
  private func handOut() {
    var renderers: [RenderThread] = []
    var pace = RenderThrottle(loops)
    var isHeldBack = false
    var swept = Self.now
    var keepsThings = false
    while true {
      let isAtRest = state.withLock { $0.waiting.isEmpty }
      let rest = keepsThings ? Self.restInterval : nil
      wakeUp.wait(upTo: isHeldBack ? pace.pause : isAtRest ? rest : Self.sweepInterval)
      for renderer in renderers {
        guard let (job, outcome) = renderer.finished() else { continue }
        finish(job, outcome)
        keepsThings = true
      }
      if Self.now - swept >= Self.sweepInterval {
        send(state.withLock { $0.waiting.sweep(at: Self.now) })
        if keepsThings { keepsThings = sweep() }
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

  /// Returns an idle thread or a new one; `nil` if the system cannot create one.
  private func idle(_ renderers: inout [RenderThread]) -> RenderThread? {
    if let renderer = renderers.first(where: \.isIdle) { return renderer }
    let renderer = RenderThread(done: wakeUp)
    guard renderer.start() else { return nil }
    renderers.append(renderer)
    return renderer
  }

  private func next(_ lane: RenderJob.Lane) -> RenderJob? {
    let (job, refusals) = state.withLock { state -> (RenderJob?, [RenderBacklog.Rejection]) in
      guard !state.isStopping else { return (nil, []) }
      let (job, clients, refusals) = state.waiting.begin(lane, at: Self.now) { mayHave($0, lane) }
      if let job {
        job.begin()
        state.making[ObjectIdentifier(job)] = clients.map { making.hold(job, of: job.likelyBytes, by: $0) }
      }
      return (job, refusals)
    }
    send(refusals)
    return job
  }

  /// Whether another picture may be started for the client. For a long one, pictures that are being rendered also
  /// count. A quick one has few bytes and waits for no long one.
  private func mayHave(_ client: ClientAddress, _ lane: RenderJob.Lane) -> Bool {
    guard lane == .long else { return unsent.admits(client) }
    return unsent.amount(of: client) + making.amount(of: client) < unsent.limit - unsent.total - making.total
  }

  private func finish(_ job: RenderJob, _ outcome: RenderOutcome) {
    // Held until the waiters hold the picture itself.
    let (all, holds) = state.withLock { state in
      if case .done(let bytes) = outcome {
        state.counts.rendered += 1
        // Checked under the lock, so that nothing is cached after `forget`.
        if job.mayBeKept() {
          state.lengths.insert(bytes.bytes.count, for: job.key, weight: 1)
          state.cache.insert(bytes, for: job.key, weight: bytes.bytes.count + job.key.utf8.count + 256)
        }
      }
      let holds = state.making.removeValue(forKey: ObjectIdentifier(job))
      return (state.waiting.end(job), holds)
    }
    withExtendedLifetime(holds) { for waiter in all { waiter.take(outcome) } }
  }
}

extension Response {
  /// Returns the response for a picture of a pyramid without its coarse levels, for which too many tiles would have
  /// to be read.
  static func outOfReach(insteadOf failure: Response) -> Response {
    let text = "the coarse levels of this pyramid are not stored, and this picture would need too many tiles"
    let isProblem = failure["Content-Type"] == "application/problem+json"
    return isProblem ? .problem(404, "Not stored", text) : self.text(404, text)
  }

  /// The response if the render queue is full.
  static let busy = later(1, "too many pictures are being rendered; try again")

  /// The response if the picture was not ready in time.
  static let late = later(30, "the picture was not ready in time; try again later, or ask for fewer pixels")

  /// The response if memory or a descriptor is missing for a tile, or its storage is unreachable.
  static let unavailable = later(1, unavailableMessage)

  private static func later(_ seconds: Int, _ text: String) -> Response {
    var response = self.text(503, text)
    response["Retry-After"] = "\(seconds)"
    return response
  }
}

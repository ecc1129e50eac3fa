import ZigguratHTTPMessages

/// The renders with waiting clients, and their order.
///
/// A value without threads or a clock of its own: its owner passes the time, and sends the refusals.
struct RenderBacklog: Sendable {
  typealias Waiter = RenderQueue.Waiter

  /// A client that is refused, and the response to it, which is sent outside of any lock.
  typealias Rejection = (waiter: Waiter, answer: Response)

  private struct Render {
    let job: RenderJob
    var waiters: [(waiter: Waiter, since: Double)]
    /// The time at which a thread started the render, in seconds.
    var began: Double?
  }

  /// Counts of renders that ended early or were shared.
  struct Tally: Sendable {
    var shared = 0
    /// Renders that no client waited for any more.
    var abandoned = 0
    /// Renders that were not ready in time.
    var late = 0
  }

  let capacity: Int
  /// Maximum waiting time of a client and maximum duration of a render, in seconds.
  let timeout: Double
  private var renders: [String: Render] = [:]
  private var turns = [FairQueue<String>](repeating: FairQueue(), count: RenderJob.Lane.allCases.count)
  private(set) var tally = Tally()
  /// The number of renders that were not started.
  private(set) var count = 0

  init(capacity: Int, timeout: Double) {
    self.capacity = capacity
    self.timeout = timeout
  }

  var isEmpty: Bool { renders.isEmpty }

  func hasWaiting(in lane: RenderJob.Lane) -> Bool { !turns[lane.rawValue].isEmpty }

  /// Adds a waiter for a job. Equal jobs share one render.
  /// - Returns: the waiters that were dropped to make room; nil if the queue is full and no client has more jobs than
  ///   this one would have.
  mutating func add(_ job: RenderJob, _ waiter: Waiter, at time: Double) -> [Rejection]? {
    var refusals: [Rejection] = []
    if renders[job.key] == nil {
      if count >= capacity { refusals = sweep(at: time) }
      while count >= capacity {
        guard let heaviest = heaviestClient(besides: waiter.client) else {
          // The waiters that were swept are refused in any case.
          if !refusals.isEmpty { return refusals + [(waiter, .busy)] }
          return nil
        }
        refusals += dropLast(of: heaviest)
      }
      renders[job.key] = Render(job: job, waiters: [])
      count += 1
    } else {
      tally.shared += 1
    }
    let render = renders[job.key]!
    if render.began == nil, !render.waiters.contains(where: { $0.waiter.client == waiter.client }) {
      turns[render.job.lane.rawValue].add(job.key, of: waiter.client, cost: max(1, job.cost.pixels))
    }
    renders[job.key]!.waiters.append((waiter, time))
    return refusals
  }

  /// Starts the next job that a client still waits for.
  /// - Parameter mayHave: whether another picture may be started for a client.
  mutating func begin(
    _ lane: RenderJob.Lane, at time: Double, where mayHave: (ClientAddress) -> Bool = { _ in true }
  ) -> (job: RenderJob?, clients: Set<ClientAddress>, refusals: [Rejection]) {
    var refusals: [Rejection] = []
    while let key = turns[lane.rawValue].next(where: mayHave) {
      guard let render = renders[key] else { continue }
      for (waiter, _) in render.waiters { turns[lane.rawValue].remove(key, of: waiter.client) }
      count -= 1
      if render.waiters.contains(where: { $0.waiter.isThere() }) {
        renders[key]!.began = time
        return (render.job, Set(render.waiters.map(\.waiter.client)), refusals)
      }
      renders[key] = nil
      tally.abandoned += 1
      refusals += render.waiters.map { ($0.waiter, .busy) }
    }
    return (nil, [], refusals)
  }

  /// Removes a job that is finished or was cancelled.
  /// - Returns: its waiters.
  mutating func end(_ job: RenderJob) -> [Waiter] {
    // Another job with the same key may have started since this one was cancelled.
    guard let render = renders[job.key], render.job === job else { return [] }
    renders[job.key] = nil
    return render.waiters.map(\.waiter)
  }

  /// Drops clients that disconnected or timed out, and renders without clients. Renders that were started are
  /// cancelled.
  mutating func sweep(at time: Double) -> [Rejection] {
    var refusals: [Rejection] = []
    for (key, render) in renders {
      let isSlow = render.began.map { time - $0 >= timeout } ?? false
      var left: [(waiter: Waiter, since: Double)] = []
      var (gone, late): ([Waiter], [Waiter]) = ([], [])
      for (waiter, since) in render.waiters {
        if isSlow || time - since >= timeout {
          late.append(waiter)
        } else if !waiter.isThere() {
          gone.append(waiter)
        } else {
          left.append((waiter, since))
        }
      }
      guard left.count < render.waiters.count else { continue }
      refusals += late.map { ($0, .late) } + gone.map { ($0, .busy) }
      tally.late += late.count
      leave(key, render, left)
      if left.isEmpty, late.isEmpty { tally.abandoned += 1 }
    }
    return refusals
  }

  /// Refuses the renders that were not started and cancels the others, whose waiters get a response when they end.
  mutating func stop() -> [Rejection] {
    var refusals: [Rejection] = []
    for (key, render) in renders {
      if render.began == nil {
        refusals += render.waiters.map { ($0.waiter, .busy) }
        leave(key, render, [])
      } else {
        render.job.cancellation.ask()
      }
    }
    return refusals
  }

  /// Returns the client with the most waiting jobs, if that is more than `client` would have with one more.
  private func heaviestClient(besides client: ClientAddress) -> ClientAddress? {
    func number(_ client: ClientAddress) -> Int { turns.reduce(0) { $0 + $1.count(of: client) } }
    let most = Set(turns.flatMap(\.waiting)).max { number($0) < number($1) }
    return most.flatMap { number($0) > number(client) + 1 ? $0 : nil }
  }

  private mutating func dropLast(of client: ClientAddress) -> [Rejection] {
    let lane = turns.indices.max { turns[$0].count(of: client) < turns[$1].count(of: client) }!
    guard let key = turns[lane].takeLast(of: client), let render = renders[key] else { return [] }
    let isHis = { (waiter: Waiter) in waiter.client == client }
    leave(key, render, render.waiters.filter { !isHis($0.waiter) })
    return render.waiters.filter { isHis($0.waiter) }.map { ($0.waiter, .busy) }
  }

  /// - Parameter left: the clients that still wait for the render.
  private mutating func leave(_ key: String, _ render: Render, _ left: [(waiter: Waiter, since: Double)]) {
    if render.began == nil {
      let clients = Set(left.map(\.waiter.client))
      for (waiter, _) in render.waiters where !clients.contains(waiter.client) {
        turns[render.job.lane.rawValue].remove(key, of: waiter.client)
      }
    }
    renders[key]!.waiters = left
    guard left.isEmpty else { return }
    renders[key] = nil
    if render.began == nil { count -= 1 } else { render.job.cancellation.ask() }
  }
}

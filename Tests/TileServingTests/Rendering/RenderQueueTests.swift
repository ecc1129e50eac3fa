import Dispatch
import Glibc
import Synchronization
import Testing
import ZigguratConcurrency
import ZigguratHTTPMessages
import ZigguratTestSupport

@testable import ZigguratTileRendering
@testable import ZigguratTileServing

struct RenderQueueTests {
  private final class Tally: Sendable {
    let renders = Mutex<[String]>([])
    let answers = Mutex<[Int: [Bool]]>([:])
    /// Statuses of what was answered instead of a picture.
    let refusals = Mutex<[Int: Int]>([:])

    /// - Parameter bytes: nil for a picture that cannot be made.
    func job(_ key: String, cost: RenderCost = RenderCost(pixels: 1), bytes: [UInt8]? = [1, 2, 3])
      -> RenderJob
    {
      RenderQueueTests.job(key, cost: cost) { [self] (_) throws(RenderError) in
        renders.withLock { $0.append(key) }
        usleep(500)
        guard let bytes else { throw RenderError("it cannot be made") }
        return bytes
      }
    }

    func waiter(
      _ number: Int, of client: UInt32 = 1, isThere: @escaping @Sendable () -> Bool = { true }
    ) -> RenderQueue.Waiter {
      let take = { @Sendable [self] (outcome: RenderOutcome) in
        let isDone = if case .done = outcome { true } else { false }
        if case .refused(let answer) = outcome { refusals.withLock { $0[number] = answer.status } }
        answers.withLock { $0[number, default: []].append(isDone) }
      }
      return RenderQueue.Waiter(client: .ipv4(client), isThere: isThere, take: take)
    }

    func waitForAnswers(_ count: Int) {
      while answers.withLock({ $0.count }) < count { usleep(1000) }
    }
  }

  /// A job that says when it began and ends when it may.
  private final class Held: Sendable {
    let began = CountingSemaphore()
    let launchKey = CountingSemaphore()
    let job: RenderJob

    init(_ key: String, cost: RenderCost = RenderCost(pixels: 1)) {
      job = RenderQueueTests.job(key, cost: cost) { [began, launchKey] (_) throws(RenderError) in
        began.signal()
        launchKey.wait()
        return [1]
      }
    }
  }

  private static let long = RenderCost(pixels: RenderCost.quick.pixels + 1)

  private static func job(
    _ key: String, cost: RenderCost = RenderCost(pixels: 1),
    _ work: @escaping @Sendable (Cancellation) throws(RenderError) -> [UInt8]
  ) -> RenderJob {
    RenderJob(key: key, cost: cost, failure: .text(500, "no"), mayBeKept: { false }, work: work)
  }

  private static func queue(threads: Int, capacity: Int, timeout: Double = 3600) -> RenderQueue {
    var options = RenderOptions()
    (options.threads, options.queue, options.timeout) = (threads, capacity, timeout)
    return RenderQueue(options)
  }

  @Test(
    "an accepted request is notified once and a rejected one never, under any load", arguments: [1, 2, 5])
  func everyWaiterOnce(threads: Int) {
    let queue = Self.queue(threads: threads, capacity: 8)
    let tally = Tally()
    let taken = Mutex<Set<Int>>([])
    let seed = SplitMix.runSeed
    DispatchQueue.concurrentPerform(iterations: 4) { part in
      var random = SplitMix(seed &+ UInt64(part))
      for number in 0..<150 {
        let name = part * 1000 + number
        let key = random.below(12)
        let cost = key % 4 == 1 ? Self.long : RenderCost(pixels: 1 + key)
        let job = tally.job("\(key)", cost: cost, bytes: key == 0 ? nil : [1])
        let isThere = !random.sometimes(5)
        if queue.submit(job, tally.waiter(name, of: UInt32(random.below(3)), isThere: { isThere })) {
          taken.withLock { _ = $0.insert(name) }
        }
        if random.sometimes(3) { usleep(UInt32(random.below(2000))) }
      }
    }
    queue.stop()
    let answers = tally.answers.withLock { $0 }
    #expect(Set(answers.keys) == taken.withLock { $0 }, "seed \(seed)")
    #expect(answers.values.allSatisfy { $0.count == 1 }, "seed \(seed)")
    let rendered = tally.renders.withLock { $0.count }
    #expect(rendered > 0 && rendered <= answers.count)
    #expect(queue.counts.waiting == 0)
    #expect(!queue.submit(tally.job("late"), tally.waiter(-1)))
  }

  @Test("a full queue rejects, equal jobs share a render, and a client that left costs none")
  func bounds() {
    let queue = Self.queue(threads: 1, capacity: 2)
    let tally = Tally()
    let first = Held("first")
    let hasLeft = Atomic(false)
    #expect(queue.submit(first.job, tally.waiter(0)))
    first.began.wait()
    #expect(queue.submit(tally.job("second"), tally.waiter(1)))
    #expect(queue.submit(tally.job("left"), tally.waiter(2) { !hasLeft.load(ordering: .relaxed) }))
    #expect(!queue.submit(tally.job("third"), tally.waiter(3)))
    #expect(queue.submit(tally.job("second"), tally.waiter(4)))
    #expect(queue.submit(first.job, tally.waiter(5)))
    hasLeft.store(true, ordering: .relaxed)
    first.launchKey.signal()
    tally.waitForAnswers(5)
    queue.stop()
    #expect(tally.answers.withLock { $0 } == [0: [true], 1: [true], 2: [false], 4: [true], 5: [true]])
    #expect(tally.renders.withLock { $0 } == ["second"])
    #expect((queue.counts.refused, queue.counts.abandoned, queue.counts.shared) == (1, 1, 2))
  }

  @Test("a client with many waiting renders does not delay another's single one")
  func turns() {
    let queue = Self.queue(threads: 1, capacity: 64)
    let tally = Tally()
    let first = Held("first")
    #expect(queue.submit(first.job, tally.waiter(0, of: 1)))
    first.began.wait()
    for number in 1...20 { #expect(queue.submit(tally.job("many \(number)"), tally.waiter(number, of: 1))) }
    #expect(queue.submit(tally.job("single"), tally.waiter(100, of: 2)))
    // Somebody else waits for one of the crowd's: it has his turn.
    #expect(queue.submit(tally.job("many 20"), tally.waiter(101, of: 3)))
    first.launchKey.signal()
    tally.waitForAnswers(23)
    queue.stop()
    let order = tally.renders.withLock { $0 }
    #expect(order.prefix(3) == ["single", "many 20", "many 1"])
    #expect(order.count == 21)
  }

  @Test("the client that fills the queue gives its last place to a client without any")
  func heaviest() {
    let queue = Self.queue(threads: 1, capacity: 4)
    let tally = Tally()
    let first = Held("first")
    #expect(queue.submit(first.job, tally.waiter(0, of: 1)))
    first.began.wait()
    for number in 1...4 { #expect(queue.submit(tally.job("many \(number)"), tally.waiter(number, of: 1))) }
    #expect(!queue.submit(tally.job("many 5"), tally.waiter(5, of: 1)))
    #expect(queue.submit(tally.job("other"), tally.waiter(6, of: 2)))
    #expect(tally.answers.withLock { $0 } == [4: [false]])
    #expect(queue.submit(tally.job("other 2"), tally.waiter(7, of: 2)))
    // Two each: nobody has more than he would have.
    #expect(!queue.submit(tally.job("other 3"), tally.waiter(8, of: 2)))
    first.launchKey.signal()
    tally.waitForAnswers(7)
    queue.stop()
    #expect(Set(tally.renders.withLock { $0 }) == ["many 1", "many 2", "other", "other 2"])
    #expect(tally.refusals.withLock { $0 } == [3: 503, 4: 503])
  }

  @Test("a quick render does not wait for a long one")
  func lanes() {
    let queue = Self.queue(threads: 1, capacity: 8)
    let tally = Tally()
    let poster = Held("poster", cost: Self.long)
    #expect(queue.submit(poster.job, tally.waiter(0)))
    poster.began.wait()
    #expect(queue.submit(tally.job("second poster", cost: Self.long), tally.waiter(1)))
    #expect(queue.submit(tally.job("thumbnail"), tally.waiter(2)))
    tally.waitForAnswers(1)
    #expect(tally.answers.withLock { $0 } == [2: [true]])
    poster.launchKey.signal()
    tally.waitForAnswers(3)
    queue.stop()
    #expect(tally.renders.withLock { $0 } == ["thumbnail", "second poster"])
  }

  @Test("a render ends when its last client has left, and not before")
  func leaving() {
    let queue = Self.queue(threads: 1, capacity: 8)
    let tally = Tally()
    let (began, ended) = (CountingSemaphore(), CountingSemaphore())
    let job = Self.job("endless") { (cancellation) throws(RenderError) in
      began.signal()
      while !cancellation.isAsked { usleep(1000) }
      ended.signal()
      throw RenderError.cancelled
    }
    let clients = Atomic(2)
    #expect(queue.submit(job, tally.waiter(0) { clients.load(ordering: .relaxed) > 1 }))
    #expect(queue.submit(job, tally.waiter(1, of: 2) { clients.load(ordering: .relaxed) > 0 }))
    began.wait()
    clients.store(1, ordering: .relaxed)
    tally.waitForAnswers(1)
    #expect(!job.cancellation.isAsked)
    clients.store(0, ordering: .relaxed)
    ended.wait()
    tally.waitForAnswers(2)
    // The thread is free again.
    #expect(queue.submit(tally.job("next"), tally.waiter(2)))
    tally.waitForAnswers(3)
    queue.stop()
    #expect(tally.answers.withLock { $0 } == [0: [false], 1: [false], 2: [true]])
    #expect(queue.counts.abandoned == 1)
  }

  @Test("a request that waits too long gets an error, and the render ends")
  func deadline() {
    let queue = Self.queue(threads: 1, capacity: 8, timeout: 0.2)
    let tally = Tally()
    let ended = CountingSemaphore()
    let job = Self.job("endless") { (cancellation) throws(RenderError) in
      while !cancellation.isAsked { usleep(1000) }
      ended.signal()
      throw RenderError.cancelled
    }
    #expect(queue.submit(job, tally.waiter(0)))
    #expect(queue.submit(tally.job("behind it"), tally.waiter(1)))
    ended.wait()
    tally.waitForAnswers(2)
    queue.stop()
    #expect(tally.refusals.withLock { $0[0] } == 503)
    #expect(queue.counts.late >= 1)
    #expect(Response.late["Retry-After"] != nil)
  }

  @Test("running renders end when the queue stops")
  func stopping() {
    let queue = Self.queue(threads: 1, capacity: 8)
    let tally = Tally()
    let began = CountingSemaphore()
    let job = Self.job("endless") { (cancellation) throws(RenderError) in
      began.signal()
      while !cancellation.isAsked { usleep(1000) }
      throw RenderError.cancelled
    }
    #expect(queue.submit(job, tally.waiter(0)))
    began.wait()
    #expect(queue.submit(tally.job("waits"), tally.waiter(1)))
    queue.stop()
    #expect(tally.refusals.withLock { $0 } == [0: 503, 1: 503])
  }
}

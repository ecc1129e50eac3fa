import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import TileRendering
@testable import TileServing

struct RenderQueueTests {
  private final class Tally: Sendable {
    let renders = Mutex<[String: Int]>([:])
    let answers = Mutex<[Int: [Bool]]>([:])

    /// - Parameter bytes: nil for a picture that cannot be made.
    func job(_ key: String, bytes: [UInt8]? = [1, 2, 3]) -> RenderJob {
      let work = { @Sendable [self] () throws(RenderError) -> [UInt8] in
        renders.withLock { $0[key, default: 0] += 1 }
        usleep(500)
        guard let bytes else { throw RenderError("it cannot be made") }
        return bytes
      }
      return RenderJob(key: key, failure: .text(500, "no"), mayBeKept: { false }, work: work)
    }

    func waiter(_ number: Int, isThere: Bool = true) -> RenderQueue.Waiter {
      let take = { @Sendable [self] (outcome: RenderOutcome) in
        let isDone = if case .done = outcome { true } else { false }
        answers.withLock { $0[number, default: []].append(isDone) }
      }
      return RenderQueue.Waiter(isThere: { isThere }, take: take)
    }
  }

  private static func queue(threads: Int, capacity: Int) -> RenderQueue {
    var options = RenderOptions()
    (options.threads, options.queue) = (threads, capacity)
    return RenderQueue(options)
  }

  @Test("whoever is taken is told once, whoever is not never, whatever comes at once", arguments: [1, 2, 5])
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
        let job = tally.job("\(key)", bytes: key == 0 ? nil : [1])
        if queue.submit(job, tally.waiter(name, isThere: !random.sometimes(5))) {
          taken.withLock { _ = $0.insert(name) }
        }
        if random.sometimes(3) { usleep(UInt32(random.below(2000))) }
      }
    }
    queue.stop()
    let answers = tally.answers.withLock { $0 }
    #expect(Set(answers.keys) == taken.withLock { $0 }, "seed \(seed)")
    #expect(answers.values.allSatisfy { $0.count == 1 }, "seed \(seed)")
    let rendered = tally.renders.withLock { $0.values.reduce(0, +) }
    #expect(rendered > 0 && rendered <= answers.count)
    #expect(queue.counts.waiting == 0)
    #expect(!queue.submit(tally.job("late"), tally.waiter(-1)))
  }

  @Test("a full queue refuses, equal jobs share one render, a client that left costs none")
  func bounds() {
    let queue = Self.queue(threads: 1, capacity: 2)
    let tally = Tally()
    let gate = Semaphore()
    let began = Semaphore()
    let work = { @Sendable () throws(RenderError) -> [UInt8] in
      began.signal()
      gate.wait()
      return [1]
    }
    let first = RenderJob(key: "first", failure: .text(500, "no"), mayBeKept: { false }, work: work)
    #expect(queue.submit(first, tally.waiter(0)))
    began.wait()
    #expect(queue.submit(tally.job("second"), tally.waiter(1)))
    #expect(queue.submit(tally.job("left"), tally.waiter(2, isThere: false)))
    #expect(!queue.submit(tally.job("third"), tally.waiter(3)))
    #expect(queue.submit(tally.job("second"), tally.waiter(4)))
    #expect(queue.submit(first, tally.waiter(5)))
    gate.signal()
    while tally.answers.withLock({ $0.count }) < 5 { usleep(1000) }
    queue.stop()
    #expect(tally.answers.withLock { $0 } == [0: [true], 1: [true], 2: [false], 4: [true], 5: [true]])
    #expect(tally.renders.withLock { $0 } == ["second": 1])
    #expect((queue.counts.refused, queue.counts.abandoned, queue.counts.shared) == (1, 1, 2))
  }
}

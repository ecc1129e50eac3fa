import Synchronization
import Testing

@testable import ZigguratConcurrency

@Suite struct ThreadPoolTests {
  @Test func `one thread does all that it was given, in its order, before the queue ends`() {
    let queue = ThreadPool(threads: 1, capacity: .max)
    let done = Mutex<[Int]>([])
    for number in 0..<1000 { #expect(queue.submit { done.withLock { $0.append(number) } }) }
    queue.stop()
    #expect(done.withLock { $0 } == Array(0..<1000))
    #expect(!queue.submit {})
  }

  @Test func `so many jobs may wait, and what clears up always may`() {
    let queue = ThreadPool(threads: 1, capacity: 2)
    let (begun, gate) = (OneShotEvent(), OneShotEvent())
    let count = Atomic<Int>(0)
    let add: @Sendable () -> Void = { count.wrappingAdd(1, ordering: .relaxed) }
    #expect(
      queue.submit {
        begun.set()
        gate.wait(upTo: 60)
      })
    begun.wait(upTo: 60)
    #expect(queue.submit(add) && queue.submit(add))
    #expect(!queue.submit(add))
    #expect(queue.submit(always: true, add))
    gate.set()
    queue.stop()
    #expect(count.load(ordering: .relaxed) == 3)
  }

  /// Each of them waits for all the others.
  @Test func `as many jobs as there are threads are done at a time`() {
    let queue = ThreadPool(threads: 4, capacity: .max)
    let together = Atomic<Int>(0)
    let all = OneShotEvent()
    for _ in 0..<4 {
      _ = queue.submit {
        if together.wrappingAdd(1, ordering: .relaxed).newValue == 4 { all.set() }
        all.wait(upTo: 60)
      }
    }
    queue.stop()
    #expect(all.isSet)
  }
}

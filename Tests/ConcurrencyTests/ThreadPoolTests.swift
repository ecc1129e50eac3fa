import Synchronization
import Testing

@testable import ZigguratConcurrency

@Suite struct ThreadPoolTests {
  @Test func `one thread runs all jobs in order before the pool stops`() {
    let queue = ThreadPool(threads: 1, capacity: .max)
    let done = Mutex<[Int]>([])
    for number in 0..<1000 { #expect(queue.submit { done.withLock { $0.append(number) } }) }
    queue.stop()
    #expect(done.withLock { $0 } == Array(0..<1000))
    #expect(!queue.submit {})
  }

  @Test func `the number of waiting jobs is limited, except for cleanup`() {
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
  @Test func `as many jobs run at a time as there are threads`() {
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

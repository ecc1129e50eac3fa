import Synchronization
import Testing

@testable import ZigguratConcurrency

@Suite struct SingleFlightTests {
  @Test func `tasks, threads and callbacks get the result, before and after it lands`() async {
    let flight = Future<Int>()
    let seen = Mutex<[Int]>([])
    flight.whenLanded { (value: Int) in seen.withLock { $0.append(value) } }
    let task = Task.detached { await flight.landed() }
    #expect(StartedThread.detached { flight.land(7) })
    await task.value
    #expect(flight.value() == 7)
    flight.land(8)
    flight.whenLanded { (value: Int) in seen.withLock { $0.append(value + 1) } }
    #expect(flight.value() == 7 && seen.withLock { $0 } == [7, 8])
  }

  @Test func `a task that is cancelled waits no longer`() async {
    let flight = Future<Int>()
    let waiting = Task.detached { await flight.landed() }
    let late = Task.detached {
      withUnsafeCurrentTask { $0?.cancel() }
      await flight.landed()
    }
    waiting.cancel()
    await waiting.value
    await late.value
    flight.land(1)
    await flight.landed()
  }

  @Test func `callbacks are called in their order`() {
    let flight = Future<Void>()
    let seen = Mutex<[Int]>([])
    for number in 0..<100 { flight.whenLanded { seen.withLock { $0.append(number) } } }
    flight.land(())
    #expect(seen.withLock { $0 } == Array(0..<100))
  }

  @Test func `of a thousand that ask for one key at once, one begins the operation`() {
    let flights = SingleFlight<String, Int>()
    let begun = Atomic<Int>(0)
    let sum = Atomic<Int>(0)
    StartedThread.several(4) { _ in
      for _ in 0..<250 {
        let (flight, isNew) = flights.join("a")
        if isNew { begun.wrappingAdd(1, ordering: .relaxed) }
        flight.whenLanded { (value: Int) in sum.wrappingAdd(value, ordering: .relaxed) }
      }
    }
    flights.land("a", 3)
    #expect(begun.load(ordering: .relaxed) == 1 && sum.load(ordering: .relaxed) == 3000)
    #expect(flights.join("a").isNew && flights.join("b").isNew)
  }

  @Test func `a result is remembered as long as is said, and never more than the capacity`() {
    let flights = SingleFlight<Int, String>(remembering: 2)
    _ = flights.join(1)
    flights.land(1, "whole")
    #expect(flights.remembered(1) == nil)
    flights.land(1, "failed", rememberingFor: .seconds(3600))
    #expect(flights.remembered(1) == "failed")
    flights.land(1, "failed", rememberingFor: .zero)
    #expect(flights.remembered(1) == nil)
    for key in 1...3 { flights.land(key, "failed", rememberingFor: .seconds(3600)) }
    #expect((1...3).count { flights.remembered($0) != nil } <= 2 && flights.remembered(3) != nil)
  }
}

@Suite struct TaskThreadsTests {
  @Test func `tasks run on the threads, be the cooperative pool blocked or not`() async {
    let threads = TaskThreads(threads: 2)
    let flight = Future<Int>()
    let blocked = OneShotEvent()
    // As many as the pool may have threads.
    for _ in 0..<64 { Task.detached { blocked.wait(upTo: 30) } }
    let task = Task(executorPreference: threads) {
      await flight.landed()
      blocked.set()
      return flight.value()
    }
    #expect(StartedThread.detached { flight.land(5) })
    #expect(await task.value == 5)
    threads.stop()
    let late = Task(executorPreference: threads) { 6 }
    #expect(await late.value == 6)
  }
}

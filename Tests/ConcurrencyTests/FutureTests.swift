import Synchronization
import Testing

@testable import ZigguratConcurrency

@Suite struct FutureTests {
  @Test func `tasks, threads and callbacks get the result, before and after it arrives`() async {
    let flight = Future<Int>()
    let seen = Mutex<[Int]>([])
    flight.whenComplete { (value: Int) in seen.withLock { $0.append(value) } }
    let task = Task.detached { await flight.landed() }
    #expect(StartedThread.detached { flight.land(7) })
    await task.value
    #expect(flight.value() == 7)
    flight.land(8)
    flight.whenComplete { (value: Int) in seen.withLock { $0.append(value + 1) } }
    #expect(flight.value() == 7 && seen.withLock { $0 } == [7, 8])
  }

  @Test func `a cancelled task stops waiting`() async {
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

  @Test func `callbacks are called in order of registration`() {
    let flight = Future<Void>()
    let seen = Mutex<[Int]>([])
    for number in 0..<100 { flight.whenComplete { seen.withLock { $0.append(number) } } }
    flight.land(())
    #expect(seen.withLock { $0 } == Array(0..<100))
  }
}

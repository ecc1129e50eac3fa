import Testing

@testable import ZigguratConcurrency

@Suite struct TaskThreadsTests {
  @Test func `tasks run on the threads even if the cooperative pool is blocked`() async {
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

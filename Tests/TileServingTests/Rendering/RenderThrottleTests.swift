import Glibc
import Synchronization
import Testing
import ZigguratConcurrency
import ZigguratTileRendering

@testable import ZigguratTileServing

/// Renders beside threads that answer without a pause.
@Suite("The pace of renders", .serialized)
struct RenderThrottleTests {
  private static let cores = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  private final class Shared: Sendable {
    let ends = Atomic(false)
    let made = Atomic(0)
  }

  /// Uses so much processor time.
  private static func work(_ seconds: Double) {
    let end = RenderThrottle.seconds(CLOCK_THREAD_CPUTIME_ID) + seconds
    while RenderThrottle.seconds(CLOCK_THREAD_CPUTIME_ID) < end {}
  }

  /// Renders `count` pictures of 10 ms each while `heaviest` threads answer.
  /// - Returns: how many were made, and the seconds until the last one was.
  private static func render(_ count: Int, heaviest: Int) -> (made: Int, seconds: Double) {
    let (loops, shared) = (EventLoopCPUTime(), Shared())
    for _ in 0..<heaviest {
      _ = StartedThread.detached {
        loops.join()
        while !shared.ends.load(ordering: .relaxed) {}
      }
    }
    defer { shared.ends.store(true, ordering: .relaxed) }
    if heaviest > 0 { usleep(100_000) }
    let queue = RenderQueue(RenderOptions(), loops)
    let began = RenderThrottle.seconds(CLOCK_MONOTONIC)
    for number in 0..<count {
      let render = { @Sendable (_: Cancellation) throws(RenderError) -> [UInt8] in
        work(0.01)
        return [1]
      }
      let take = { @Sendable (outcome: RenderOutcome) in
        if case .done = outcome { shared.made.wrappingAdd(1, ordering: .relaxed) }
      }
      let job = RenderJob(
        key: "\(number)", cost: RenderCost(pixels: 1), failure: .text(500, "failed"), mayBeKept: { true },
        work: render)
      let waiter = RenderQueue.Waiter(client: .unknown, isThere: { true }, take: take)
      #expect(queue.submit(job, waiter))
    }
    while shared.made.load(ordering: .relaxed) < count, RenderThrottle.seconds(CLOCK_MONOTONIC) - began < 60 {
      usleep(1000)
    }
    let seconds = RenderThrottle.seconds(CLOCK_MONOTONIC) - began
    queue.stop()
    return (shared.made.load(ordering: .relaxed), seconds)
  }

  @Test("while requests use all processors, renders use an eighth of them, and all complete")
  func crowded() {
    let (made, seconds) = Self.render(60, heaviest: Self.cores)
    #expect(made == 60)
    // 0.6 s of processor time; the first ones may come before it is known how crowded it is.
    #expect(seconds > 0.4 / (Double(Self.cores) * 0.125))
  }

  @Test("otherwise renders run as fast as the threads can")
  func alone() {
    let (made, seconds) = Self.render(60, heaviest: 0)
    #expect(made == 60)
    #expect(seconds < 30)
  }
}

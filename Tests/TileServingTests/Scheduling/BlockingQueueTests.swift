import Synchronization
import Testing
import ZigguratConcurrency
import ZigguratHTTPMessages

@testable import ZigguratTileServing

/// The order of jobs, and rejected jobs.
@Suite struct BlockingQueueTests {
  /// Holds the queue until it is opened, so that others wait.
  private let launchKey = OneShotEvent()
  private let queue = BlockingQueue(capacity: 4)
  private let record = Record()

  private final class Record: Sendable {
    let replied = Mutex<[String]>([])
    let refused = Mutex<[String]>([])

    var count: Int { replied.withLock { $0.count } + refused.withLock { $0.count } }
  }

  private static func client(_ name: String) -> ClientAddress {
    ClientAddress("192.0.2.\(name.utf8.first!)")!
  }

  /// Starts a task that waits for the queue, and returns when it waits or is refused.
  @discardableResult
  private func submit(_ name: String, isHeld: Bool = false) async -> Task<Int, Never> {
    let before = queue.waiting + record.count
    let work = { @Sendable [record, launchKey] () -> Reply in
      if isHeld { launchKey.wait(upTo: 60) }
      record.replied.withLock { $0.append(name) }
      return .response(Response(200, [], .bytes([])))
    }
    let reply = queue.reply(
      for: Self.client(name), work, ifRefused: { [record] in record.refused.withLock { $0.append(name) } })
    let task = Task.detached { await reply.response().status }
    while !isHeld, queue.waiting + record.count == before { try? await Task.sleep(for: .milliseconds(1)) }
    return task
  }

  /// Returns when the first job runs.
  private func begin() async -> Task<Int, Never> {
    let first = await submit("first", isHeld: true)
    while !queue.isRunning { try? await Task.sleep(for: .milliseconds(1)) }
    return first
  }

  private func end(_ tasks: [Task<Int, Never>]) async -> [Int] {
    launchKey.set()
    var statuses: [Int] = []
    for task in tasks { statuses.append(await task.value) }
    queue.stop()
    return statuses
  }

  @Test func `clients are served in turn`() async {
    var tasks = [await begin()]
    for name in ["a1", "a2", "b1"] { tasks.append(await submit(name)) }
    #expect(await end(tasks) == [200, 200, 200, 200])
    #expect(record.replied.withLock { $0 } == ["first", "a1", "b1", "a2"])
  }

  @Test func `a client that fills the queue gives way to others, not to itself`() async {
    let first = await begin()
    var tasks: [Task<Int, Never>] = []
    for name in ["a1", "a2", "a3"] { tasks.append(await submit(name)) }
    for name in ["a4", "b1", "c1"] {
      let refused = record.refused.withLock { $0.count }
      tasks.append(await submit(name))
      // Each of them makes one lose its place.
      while record.refused.withLock({ $0.count }) == refused { try? await Task.sleep(for: .milliseconds(1)) }
    }
    #expect(await end([first] + tasks) == [200, 200, 503, 503, 503, 200, 200])
    #expect(record.replied.withLock { $0 } == ["first", "a1", "b1", "c1"])
    #expect(record.refused.withLock { $0 } == ["a4", "a3", "a2"])
  }

  @Test func `a queue that stops rejects waiting jobs`() async {
    let first = await begin()
    var tasks: [Task<Int, Never>] = []
    for name in ["a1", "b1"] { tasks.append(await submit(name)) }
    let stopping = Task.detached { [queue] in queue.stop() }
    while !queue.isStopping { try? await Task.sleep(for: .milliseconds(1)) }
    tasks.append(await submit("c1"))
    #expect(await end([first] + tasks) == [200, 503, 503, 503])
    await stopping.value
    #expect(record.replied.withLock { $0 } == ["first"])
    #expect(record.refused.withLock { $0.sorted() } == ["a1", "b1", "c1"])
  }

  @Test func `a job whose task was cancelled while it waited does not run`() async {
    let first = await begin()
    let cancelled = await submit("a1")
    let other = await submit("b1")
    cancelled.cancel()
    #expect(await end([first, cancelled, other]) == [200, 503, 200])
    #expect(record.replied.withLock { $0 } == ["first", "b1"])
  }

  @Test func `a reply that waits releases the thread of the queue`() async {
    let flight = Mutex<CheckedContinuation<Void, Never>?>(nil)
    let slow = queue.reply(for: .unknown) {
      .task {
        await withCheckedContinuation { continuation in flight.withLock { $0 = continuation } }
        return Response(202, [], .bytes([]))
      }
    }
    let task = Task.detached { await slow.response().status }
    while flight.withLock({ $0 == nil }) { try? await Task.sleep(for: .milliseconds(1)) }
    let quick = queue.reply(for: .unknown) { .response(Response(201, [], .bytes([]))) }
    #expect(await quick.response().status == 201)
    flight.withLock { $0 }?.resume()
    #expect(await task.value == 202)
    queue.stop()
  }
}

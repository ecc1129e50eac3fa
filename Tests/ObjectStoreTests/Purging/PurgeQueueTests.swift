import Synchronization
import Testing

@testable import ZigguratObjectStore

/// A cache that notes its purges.
@Suite struct PurgeQueueTests {
  private final class Cache: Sendable {
    let asked = Mutex<[[String]]>([])
    let answers = Mutex(true)
    let heard = Mutex<[Bool]>([])

    var queue: PurgeQueue {
      PurgeQueue { keys in
        self.asked.withLock { $0.append(keys.sorted()) }
        return self.answers.withLock { $0 }
      } heard: { isHeard in
        self.heard.withLock { $0.append(isHeard) }
      }
    }

    var taken: [[String]] {
      asked.withLock { asked in
        defer { asked = [] }
        return asked
      }
    }
  }

  private let cache = Cache()

  @Test func `a key is purged at once, and again for responses in transit`() {
    let queue = cache.queue
    queue.add(["a", "b"])
    let start = ContinuousClock.now
    queue.ask(at: start)
    #expect(cache.taken == [["a", "b"]])
    for (early, due) in [(0.9, 1.0), (4, 5)] {
      queue.ask(at: start + .seconds(early))
      #expect(cache.taken.isEmpty && queue.count == 2)
      queue.ask(at: start + .seconds(due))
      #expect(cache.taken == [["a", "b"]])
    }
    queue.ask(at: start + .seconds(60))
    #expect(cache.taken == [["a", "b"]] && queue.count == 0)
    queue.ask(at: start + .seconds(3600))
    #expect(cache.taken.isEmpty)
  }

  @Test func `an unresponsive cache is retried until it responds, and reported once`() {
    let queue = cache.queue
    queue.add(["a"])
    cache.answers.withLock { $0 = false }
    let start = ContinuousClock.now
    for _ in 0..<3 { queue.ask(at: start) }
    #expect(cache.taken == [["a"], ["a"], ["a"]] && queue.count == 1)
    #expect(cache.heard.withLock { $0 } == [false])
    cache.answers.withLock { $0 = true }
    queue.ask(at: start)
    #expect(cache.taken == [["a"]] && cache.heard.withLock { $0 } == [false, true])
    queue.ask(at: start + .seconds(0.9))
    #expect(cache.taken.isEmpty && queue.count == 1)
  }

  @Test func `no header has more keys than fit`() {
    let queue = cache.queue
    queue.add((0..<250).map(String.init))
    queue.ask(at: .now)
    let asked = cache.taken
    #expect(asked.map(\.count) == [100, 100, 50] && Set(asked.joined()).count == 250)
  }

  @Test func `100,000 keys are purged a hundred at a time, and keys added again restart`() {
    let queue = cache.queue
    let start = ContinuousClock.now
    queue.add((0..<100_000).map(String.init), at: start)
    queue.ask(at: start)
    #expect(cache.taken.count == 1000 && queue.count == 100_000)
    queue.ask(at: start + .seconds(1))
    #expect(cache.taken.count == 1000)
    // Of a second later, whatever its turn is now.
    queue.add(["5", "7", "5", "new"], at: start + .seconds(1.2))
    queue.ask(at: start + .seconds(1.5))
    #expect(cache.taken == [["5", "7", "new"]] && queue.count == 100_001)
    queue.ask(at: start + .seconds(2.5))
    #expect(cache.taken == [["5", "7", "new"]])
    queue.ask(at: start + .seconds(5))
    let asked = cache.taken.joined()
    #expect(asked.count == 99_998 && !asked.contains("7") && Set(asked).count == asked.count)
    queue.ask(at: start + .seconds(60))
    // Those that were added again have been asked for three times at that time.
    #expect(queue.count == 3)
    queue.ask(at: start + .seconds(200))
    #expect(queue.count == 0)
  }

  @Test(
    "other texts are rejected as addresses",
    arguments: ["", "127.0.0.1:6081", "http://", "ftp://a/", "http://a b/", "http://a/\n"])
  func addresses(_ text: String) { #expect(PurgeClient(text, key: "key") == nil) }
}

import Foundation
import Synchronization
import Testing
import ZigguratHTTPMessages

@testable import ZigguratTileServing

/// Whose answer is made next, and who is refused.
@Suite struct AnswerQueueTests {
  /// Holds the queue until it is opened, so that others wait.
  private let gate = DispatchSemaphore(value: 0)
  private let queue = AnswerQueue(capacity: 4)
  private let told = Told()

  private final class Told: Sendable {
    let made = Mutex<[String]>([])
    let refused = Mutex<[String]>([])
    let takenBack = Mutex<[String]>([])
  }

  private static func client(_ name: String) -> ClientAddress {
    ClientAddress("192.0.2.\(name.utf8.first!)")!
  }

  private func submit(_ name: String, waits: Bool = false) {
    let (told, gate) = (told, gate)
    queue.later(for: Self.client(name), refused: { told.takenBack.withLock { $0.append(name) } }) {
      if waits { gate.wait() }
      return .now(Response(200, [], .bytes([])))
    }.begin(
      Later.Waiter { response in
        if response.status == 200 {
          told.made.withLock { $0.append(name) }
        } else {
          told.refused.withLock { $0.append(name) }
        }
      })
  }

  /// Until the first is being made.
  private func begin() {
    submit("first", waits: true)
    while queue.waiting > 0 { usleep(1000) }
  }

  private func end(_ count: Int) {
    gate.signal()
    while told.made.withLock({ $0.count }) < count { usleep(1000) }
    queue.stop()
  }

  @Test func addressesHaveTurns() {
    begin()
    for name in ["a1", "a2", "b1"] { submit(name) }
    end(4)
    #expect(told.made.withLock { $0 } == ["first", "a1", "b1", "a2"])
    #expect(told.refused.withLock { $0 }.isEmpty && told.takenBack.withLock { $0 }.isEmpty)
  }

  @Test func whoFillsTheQueueMakesRoomForOthersAndNotForHimself() {
    begin()
    for name in ["a1", "a2", "a3", "a4", "b1", "c1"] { submit(name) }
    end(4)
    #expect(told.made.withLock { $0 } == ["first", "a1", "b1", "c1"])
    #expect(told.refused.withLock { $0 } == ["a4", "a3", "a2"])
    #expect(told.takenBack.withLock { $0 } == ["a4", "a3", "a2"])
  }

  @Test func whatIsStillWaitingAtTheEndIsRefusedAndTakenBack() async {
    begin()
    for name in ["a1", "b1"] { submit(name) }
    let (queue, gate) = (queue, gate)
    let stopping = Task.detached { queue.stop() }
    while !queue.isStopping { usleep(1000) }
    submit("c1")
    gate.signal()
    await stopping.value
    #expect(told.made.withLock { $0 } == ["first"])
    #expect(told.takenBack.withLock { $0 } == ["c1", "a1", "b1"] && told.refused.withLock { $0 }.count == 3)
  }

  private final class Heard: Sendable {
    let statuses = Mutex<[Int]>([])
    let waiters = Mutex<[Later.Waiter]>([])

    var count: Int { statuses.withLock { $0.count } + waiters.withLock { $0.count } }
  }

  @Test("an answer that has to be waited for itself is waited for, without the queue's thread")
  func answersOfAnswers() {
    let heard = Heard()
    for (number, isKept) in [true, false].enumerated() {
      let inner = Later(
        kept: { isKept ? Response(201, [], .bytes([])) : nil },
        make: { waiter in heard.waiters.withLock { $0.append(waiter) } })
      queue.later(for: .unknown) { .later(inner) }
        .begin(Later.Waiter { response in heard.statuses.withLock { $0.append(response.status) } })
      while heard.count <= number { usleep(1000) }
    }
    queue.stop()
    #expect(heard.statuses.withLock { $0 } == [201])
    for waiter in heard.waiters.withLock({ $0 }) { waiter.take(Response(202, [], .bytes([]))) }
    #expect(heard.statuses.withLock { $0 } == [201, 202])
  }
}

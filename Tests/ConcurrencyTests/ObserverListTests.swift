import Synchronization
import Testing

@testable import ZigguratConcurrency

@Suite struct ObserverListTests {
  @Test func `an observer is notified of events from its registration on`() {
    let observation = ObserverList<Int>()
    let told = Mutex<[Int]>([])
    observation.notify(1)
    observation.observe { event in told.withLock { $0.append(event) } }
    observation.notify(2)
    observation.observe { event in told.withLock { $0.append(10 * event) } }
    observation.notify(3)
    #expect(told.withLock { $0 } == [2, 3, 30])
  }

  /// A server tells of events for months.
  @Test func `notification uses constant stack space`() {
    let observation = ObserverList<Int>()
    let places = Mutex<Set<UInt>>([])
    observation.observe { _ in
      var local = 0
      let place = withUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
      places.withLock { _ = $0.insert(place) }
    }
    for event in 0..<1000 { observation.notify(event) }
    #expect(places.withLock { $0.count } == 1)
  }
}

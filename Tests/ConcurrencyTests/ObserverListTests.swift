import Synchronization
import Testing

@testable import ZigguratConcurrency

@Suite struct ObserverListTests {
  @Test func `an observer is notified of events from its registration on`() {
    let observers = ObserverList<Int>()
    let notified = Mutex<[Int]>([])
    observers.notify(1)
    observers.observe { event in notified.withLock { $0.append(event) } }
    observers.notify(2)
    observers.observe { event in notified.withLock { $0.append(10 * event) } }
    observers.notify(3)
    #expect(notified.withLock { $0 } == [2, 3, 30])
  }

  /// A server notifies observers for months.
  @Test func `notification uses constant stack space`() {
    let observers = ObserverList<Int>()
    let places = Mutex<Set<UInt>>([])
    observers.observe { _ in
      var local = 0
      let place = withUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
      places.withLock { _ = $0.insert(place) }
    }
    for event in 0..<1000 { observers.notify(event) }
    #expect(places.withLock { $0.count } == 1)
  }
}

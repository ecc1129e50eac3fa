import Synchronization
import Testing

@testable import ZigguratConcurrency

@Suite struct SingleFlightTests {
  @Test func `one of a thousand simultaneous requests for a key starts the operation`() {
    let flights = SingleFlight<String, Int>()
    let begun = Atomic<Int>(0)
    let sum = Atomic<Int>(0)
    StartedThread.several(4) { _ in
      for _ in 0..<250 {
        let (flight, isNew) = flights.join("a")
        if isNew { begun.wrappingAdd(1, ordering: .relaxed) }
        flight.whenComplete { (value: Int) in sum.wrappingAdd(value, ordering: .relaxed) }
      }
    }
    flights.land("a", 3)
    #expect(begun.load(ordering: .relaxed) == 1 && sum.load(ordering: .relaxed) == 3000)
    #expect(flights.join("a").isNew && flights.join("b").isNew)
  }

  @Test func `results are kept for the given time, up to the capacity`() {
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

import Testing

@testable import ZigguratConcurrency

@Suite struct OneShotEventTests {
  @Test func `waiting for an event ends at its timeout, or when the event is set`() {
    let flag = OneShotEvent()
    let start = ContinuousClock.now
    flag.wait(upTo: 0.05)
    #expect(!flag.isSet && ContinuousClock.now - start >= .milliseconds(50))
    #expect(StartedThread.detached { flag.set() })
    flag.wait(upTo: 3600)
    #expect(flag.isSet)
  }
}

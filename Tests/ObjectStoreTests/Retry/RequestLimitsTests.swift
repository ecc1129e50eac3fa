import Testing

@testable import ZigguratObjectStore

@Suite struct RequestLimitsTests {
  @Test func `a transfer continues while bytes arrive at a minimum rate`() {
    var limits = RequestLimits(tries: 1, silence: .seconds(3))
    (limits.grace, limits.leastRate) = (.seconds(2), 1000)
    let start = ContinuousClock.now
    func lasts(_ bytesPerSecond: Int, sends: Bool = false) -> Int {
      var pace = TransferPace(limits, at: start)
      for second in 1..<60 {
        let count = second * bytesPerSecond
        let goesOn = pace.take(
          sent: sends ? count : 0, received: sends ? 0 : count, at: start + .seconds(second))
        if !goesOn { return second }
      }
      return 60
    }
    #expect(lasts(0) == 4)
    #expect(lasts(1) == 4)
    #expect(lasts(900) == 31 && lasts(1000) == 60)
    #expect(lasts(1, sends: true) == 60)
    #expect(limits.whole(sending: 64 << 20) == .seconds(60 + 2048))
  }
}

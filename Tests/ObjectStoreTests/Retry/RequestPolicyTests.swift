import Testing

@testable import ZigguratObjectStore

/// Retries, and the breaker that ends them.
struct RequestPolicyTests {
  private let start = ContinuousClock.now

  @Test func `retries are limited to a tenth of the traffic and a small reserve`() {
    var budget = RetryBudget(share: 0.125, most: 2)
    func spent() -> Bool { budget.spend() }
    #expect([spent(), spent(), spent()] == [true, true, false])
    for _ in 0..<7 { budget.earn() }
    #expect(!spent())
    budget.earn()
    #expect(spent())
    for _ in 0..<1000 { budget.earn() }
    #expect([spent(), spent(), spent()] == [true, true, false])
  }

  private func breaker(_ answers: [(at: Double, Bool)]) -> CircuitBreaker {
    var breaker = CircuitBreaker(start: start)
    for (time, hasAnswered) in answers { breaker.note(hasAnswered: hasAnswered, at: start + .seconds(time)) }
    return breaker
  }

  @Test func `the breaker opens at half of twenty calls, not before`() {
    let half = (0..<20).map { (at: 0.1, $0 % 2 == 0) }
    #expect(!breaker(half.dropLast()).isOpen && breaker(half).isOpen)
    #expect(!breaker((0..<40).map { (at: 0.1, $0 % 5 > 1) }).isOpen)
    #expect(!breaker((0..<19).map { _ in (at: 0.1, false) }).isOpen)
  }

  @Test func `calls older than five seconds do not count`() {
    let old = (0..<19).map { _ in (at: 0.2, false) }
    #expect(breaker(old + [(at: 4.9, false)]).isOpen)
    #expect(!breaker(old + [(at: 5.3, false)]).isOpen)
    #expect(!breaker(old + [(at: 60, false)]).isOpen)
  }

  @Test func `an open breaker admits one call a second, and one response closes it`() {
    var breaker = breaker((0..<20).map { _ in (at: 0, false) })
    func admits(_ seconds: Double) -> Bool { breaker.admits(at: start + .seconds(seconds)) }
    #expect(!admits(0.25) && !admits(0.99))
    #expect(admits(1) && !admits(1.5))
    breaker.note(hasAnswered: false, at: start + .seconds(1.5))
    #expect(breaker.isOpen && admits(2))
    breaker.note(hasAnswered: true, at: start + .seconds(2.25))
    #expect(!breaker.isOpen && admits(2.25) && admits(2.25))
    for _ in 0..<19 { breaker.note(hasAnswered: false, at: start + .seconds(2.5)) }
    #expect(!breaker.isOpen, "what was before counts no more")
  }
}

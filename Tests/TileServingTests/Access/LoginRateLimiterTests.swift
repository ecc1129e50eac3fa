import Testing
import ZigguratHTTPMessages

@testable import ZigguratTileServing

/// Delays after failed logins, by a clock that the test sets.
@Suite struct LoginRateLimiterTests {
  private static let a = ClientAddress("192.0.2.7")!
  private static let b = ClientAddress("2001:db8:1:2::1")!

  @Test func `an address waits twice as long after each failed login`() {
    var limit = LoginRateLimiter()
    var now = 1000
    for _ in 0..<LoginRateLimiter.free { #expect(limit.admit(Self.a, now: now) == 0) }
    var waits: [Int] = []
    for _ in 0..<12 {
      let wait = limit.admit(Self.a, now: now)
      waits.append(wait)
      #expect(limit.admit(Self.a, now: now + wait - 1) > 0)
      now += wait
      #expect(limit.admit(Self.a, now: now) == 0)
    }
    #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900])
    #expect(limit.admit(Self.b, now: now) == 0, "another address does not wait for it")
    #expect(limit.admit(Self.a, now: now + LoginRateLimiter.memory) == 0)
  }

  @Test func `a correct password does not clear earlier failures`() {
    var limit = LoginRateLimiter()
    for _ in 0..<LoginRateLimiter.free - 1 { #expect(limit.admit(Self.a, now: 0) == 0) }
    for _ in 0..<5 {
      #expect(limit.admit(Self.a, now: 0) == 0)
      limit.succeeded(Self.a)
    }
    #expect(limit.admit(Self.a, now: 0) == 0)
    #expect(limit.admit(Self.a, now: 0) > 0)
  }

  @Test func `an attempt that was not checked adds no delay`() {
    var limit = LoginRateLimiter()
    for _ in 0..<LoginRateLimiter.free { #expect(limit.admit(Self.a, now: 0) == 0) }
    // As where the queue of passwords is full, however often.
    for now in 1..<20 {
      #expect(limit.admit(Self.a, now: now) == 0)
      limit.withdrawn(Self.a)
    }
    #expect(limit.admit(Self.a, now: 20) == 0)
    #expect(limit.admit(Self.a, now: 20) == 2, "it is the sixth that was tried")
  }

  @Test func `failed logins of others block no client`() {
    var limit = LoginRateLimiter()
    for number in 0..<LoginRateLimiter.addresses {
      #expect(limit.admit(.ipv6(network: UInt64(number)), now: number / 100) == 0)
    }
    #expect(limit.admit(Self.a, now: LoginRateLimiter.addresses / 100) == 0)
  }

  @Test func `an IPv6 network is one address`() {
    var limit = LoginRateLimiter()
    for number in 0..<LoginRateLimiter.free {
      #expect(limit.admit(ClientAddress("2001:db8:1:2::\(number)")!, now: 0) == 0)
    }
    #expect(limit.admit(ClientAddress("2001:db8:1:2:ffff::9")!, now: 0) > 0)
    #expect(limit.admit(ClientAddress("2001:db8:1:3::1")!, now: 0) == 0)
  }
}

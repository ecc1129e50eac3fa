import Testing
import ZigguratHTTPMessages
import ZigguratTestSupport

@testable import ZigguratTileServing

/// The order of jobs, without threads or a clock.
struct FairQueueTests {
  private static let (anna, ben, cleo) = (
    ClientAddress.ipv4(1), ClientAddress.ipv4(2), ClientAddress.ipv6(network: 3)
  )

  private static func all(_ turns: inout FairQueue<String>) -> [String] {
    var keys: [String] = []
    while let key = turns.next() { keys.append(key) }
    return keys
  }

  @Test("a client with many jobs does not delay another client's single job")
  func single() {
    var turns = FairQueue<String>()
    for number in 0..<50 { turns.add("a\(number)", of: Self.anna, cost: 10) }
    #expect(turns.next() == "a0")
    turns.add("b", of: Self.ben, cost: 10)
    // As if it had been given what a0 was; a1 comes behind a0's cost.
    #expect((turns.next(), turns.next()) == ("b", "a1"))
  }

  @Test("jobs of equal cost alternate between clients, each client's in order of arrival")
  func around() {
    var turns = FairQueue<String>()
    for number in 0..<3 { turns.add("a\(number)", of: Self.anna, cost: 5) }
    for number in 0..<2 { turns.add("b\(number)", of: Self.ben, cost: 5) }
    turns.add("c0", of: Self.cleo, cost: 5)
    #expect(Self.all(&turns) == ["a0", "b0", "c0", "a1", "b1", "a2"])
    #expect(turns.isEmpty)
  }

  @Test("a client with expensive jobs is scheduled less often")
  func costs() {
    var turns = FairQueue<String>()
    for number in 0..<2 { turns.add("a\(number)", of: Self.anna, cost: 30) }
    for number in 0..<6 { turns.add("b\(number)", of: Self.ben, cost: 10) }
    #expect(Self.all(&turns) == ["a0", "b0", "b1", "b2", "a1", "b3", "b4", "b5"])
  }

  @Test("an absent client saves up nothing, and one that returns for every job gains nothing")
  func comingAndGoing() {
    var turns = FairQueue<String>()
    for number in 0..<10 { turns.add("a\(number)", of: Self.anna, cost: 10) }
    var order: [String] = []
    turns.add("b0", of: Self.ben, cost: 10)
    for number in 1...6 {
      while let key = turns.next() {
        order.append(key)
        if key.hasPrefix("b") { break }
      }
      // Asks again only when he has the answer.
      turns.add("b\(number)", of: Self.ben, cost: 10)
    }
    #expect(order == ["a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3", "a4", "b4", "a5", "b5"])
  }

  @Test("a removed job is not scheduled")
  func taking() {
    var turns = FairQueue<String>()
    for number in 0..<3 { turns.add("a\(number)", of: Self.anna, cost: 1) }
    #expect(turns.takeLast(of: Self.anna) == "a2")
    turns.remove("a0", of: Self.anna)
    #expect((turns.count(of: Self.anna), turns.waiting) == (1, [Self.anna]))
    #expect(Self.all(&turns) == ["a1"])
    #expect(turns.takeLast(of: Self.ben) == nil)
  }

  @Test("sums of costs do not overflow")
  func largeSums() {
    var turns = FairQueue<String>()
    for number in 0..<200 {
      turns.add("a\(number)", of: Self.anna, cost: 1 << 58)
      turns.add("b\(number)", of: Self.ben, cost: 1 << 59)
    }
    let keys = (0..<120).compactMap { _ in turns.next() }
    // Half as dear, twice as often.
    #expect((79...81).contains(keys.count { $0.hasPrefix("a") }))
    #expect(Self.all(&turns).count == 280)
  }

  @Test(
    "clients that always wait differ by at most two renders, at any costs"
  )
  func shares() {
    let seed = SplitMix.runSeed
    var random = SplitMix(seed)
    var turns = FairQueue<String>()
    let most = 100
    var given: [Character: Int] = ["a": 0, "b": 0, "c": 0]
    for client in given.keys {
      for number in 0..<400 {
        let cost = 1 + random.below(most)
        let address = client == "a" ? Self.anna : client == "b" ? Self.ben : Self.cleo
        turns.add("\(client)\(number)/\(cost)", of: address, cost: cost)
      }
    }
    for _ in 0..<400 {
      guard let key = turns.next(), let cost = key.split(separator: "/").last.flatMap({ Int($0) }) else {
        Issue.record("there are no turns left")
        return
      }
      given[key.first!]! += cost
      #expect(given.values.max()! - given.values.min()! <= 2 * most, "seed \(seed)")
    }
  }
}

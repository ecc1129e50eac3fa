import Testing
import ZigguratHTTPMessages

@testable import ZigguratTileServing

struct MemoryQuotaTests {
  private final class Thing: Sendable {}

  @Test("one client has half at most, of the rest the next one half, and there is always some left")
  func shares() {
    let memory = MemoryQuota(limit: 1200)
    var holds: [MemoryQuota.Hold] = []
    func fill(_ client: ClientAddress) -> Int {
      while memory.admits(client) { holds.append(memory.hold(Thing(), of: 10, by: client)) }
      return memory.amount(of: client)
    }
    #expect(fill(.ipv4(1)) == 600)
    #expect(fill(.ipv4(2)) == 300)
    #expect(fill(.ipv4(3)) == 150)
    #expect(!memory.admits(.ipv4(1)) && memory.admits(.ipv4(4)))
    #expect(memory.total == 1050)
    holds = []
    #expect(memory.total == 0 && memory.amount(of: .ipv4(1)) == 0)
    #expect(fill(.ipv4(3)) == 600)
  }

  @Test("a thing counts once in all and once for each that holds it, until the last one lets go")
  func once() {
    let memory = MemoryQuota(limit: 100)
    let thing = Thing()
    var holds = [1, 1, 1, 2].map { memory.hold(thing, of: 40, by: .ipv4($0)) }
    #expect((memory.total, memory.amount(of: .ipv4(1)), memory.amount(of: .ipv4(2))) == (40, 40, 40))
    holds.removeFirst(2)
    #expect((memory.total, memory.amount(of: .ipv4(1))) == (40, 40))
    holds.removeFirst()
    #expect((memory.total, memory.amount(of: .ipv4(1)), memory.amount(of: .ipv4(2))) == (40, 0, 40))
    holds = []
    #expect(memory.total == 0)
  }

  @Test("things of no amount are let go of in any order")
  func nothing() {
    let memory = MemoryQuota(limit: 100)
    var holds = [0, 0, 40, 0].map { memory.hold(Thing(), of: $0, by: .ipv4(1)) }
    for at in [0, 1, 0] { holds.remove(at: at) }
    #expect((memory.total, memory.amount(of: .ipv4(1))) == (0, 0))
    holds = []
    #expect((memory.total, memory.amount(of: .ipv4(1))) == (0, 0))
  }
}

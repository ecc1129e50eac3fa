import Testing
import ZigguratHTTPMessages

@testable import ZigguratTileServing

struct MemoryQuotaTests {
  private final class Thing: Sendable {}

  @Test("each client gets at most half of the remaining memory, and some is always left")
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

  @Test("a shared object counts once in total and once for each holder, until the last releases it")
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

  @Test("objects of size zero can be released in any order")
  func nothing() {
    let memory = MemoryQuota(limit: 100)
    var holds = [0, 0, 40, 0].map { memory.hold(Thing(), of: $0, by: .ipv4(1)) }
    for at in [0, 1, 0] { holds.remove(at: at) }
    #expect((memory.total, memory.amount(of: .ipv4(1))) == (0, 0))
    holds = []
    #expect((memory.total, memory.amount(of: .ipv4(1))) == (0, 0))
  }
}

import Testing
import ZigguratTestSupport

@testable import TileStorage

struct LeastRecentlyUsedTests {
  @Test("a cache has the entries of a simple model under random operations")
  func agreement() {
    var random = SplitMix(7)
    var cache = LRUCache<Int, Int>(limit: 100)
    var model: [(key: Int, value: Int, weight: Int)] = []
    for step in 0..<20_000 {
      let key = random.below(30)
      if random.sometimes(2) {
        let weight = random.below(40)
        cache.insert(step, for: key, weight: weight)
        model.removeAll { $0.key == key }
        model.append((key, step, weight))
        while model.reduce(0, { $0 + $1.weight }) > 100 { model.removeFirst() }
      } else {
        let found = model.firstIndex { $0.key == key }
        #expect(cache.value(for: key) == found.map { model[$0].value })
        if let found { model.append(model.remove(at: found)) }
      }
      #expect(cache.weight == model.reduce(0) { $0 + $1.weight })
      #expect(cache.count == model.count)
    }
  }

  @Test("an entry above the limit is not kept")
  func tooHeavy() {
    var cache = LRUCache<Int, Int>(limit: 10)
    cache.insert(1, for: 1, weight: 5)
    cache.insert(2, for: 2, weight: 11)
    #expect(cache.value(for: 1) == 1)
    #expect(cache.value(for: 2) == nil)
  }
}

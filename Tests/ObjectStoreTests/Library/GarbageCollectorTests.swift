import Testing

@testable import ZigguratObjectStore

@Suite struct GarbageCollectorTests {
  @Test func `marks are read among invalid lines`() {
    let mark = GarbageCollector.Mark(etag: "\"e\"", time: 7)
    let text = "ziggurat-sweep 1\n7 \"e\" szi/a\n7 \"e\" szi/a b\nx y z\n-5 \"e\" k\n\n"
    #expect(GarbageCollector.marks(Array(text.utf8)) == ["szi/a": mark])
    for text in ["", "ziggurat-sweep 1", "ziggurat-sweep 2\n", "ziggurat-sweep 1\n7 \"e\" szi/a"] {
      #expect(GarbageCollector.marks(Array(text.utf8)) == nil)
    }
  }
}

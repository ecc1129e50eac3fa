import Testing
import ZigguratTestSupport

@testable import ZigguratPrivateSpaces

@Suite struct SizeClassTests {
  @Test(arguments: [
    (0, 32_768), (1, 32_768), (32_768, 32_768), (32_769, 34_816), (65_536, 65_536), (65_537, 67_584),
    (1_000_000, 1_015_808), (1 << 30, 1 << 30), ((1 << 30) + 1, (1 << 30) + (1 << 25)),
  ])
  func `size classes are those of Padmé`(count: Int, size: Int) {
    #expect(SizeClass.size(holding: count) == size)
  }

  @Test func `a size class holds its content and wastes little`() {
    var random = SplitMix(SplitMix.runSeed)
    for _ in 0..<20_000 {
      let count = SizeClass.least + random.below(1 << (16 + random.below(26)))
      let size = SizeClass.size(holding: count)
      #expect(size >= count && Double(size) <= 1.0625 * Double(count), "\(count)")
      #expect(SizeClass.size(holding: size) == size, "a class is its own")
      #expect(SizeClass.size(holding: count + 1) >= size)
    }
  }

  @Test func `decoys have the sizes of classes, often other ones than the index`() {
    #expect((0..<50).allSatisfy { _ in SizeClass.random(upTo: SizeClass.least) == SizeClass.least })
    let sizes = (0..<500).map { _ in SizeClass.random(upTo: 1 << 20) }
    #expect(sizes.allSatisfy { SizeClass.size(holding: $0) == $0 && $0 <= 1 << 20 })
    #expect(Set(sizes).count > 20)
  }

  @Test func `each piece of padding has room for its seal`() {
    var random = SplitMix(SplitMix.runSeed)
    for _ in 0..<2000 {
      let count = random.below(1 << (8 + random.below(26)))
      let padding = ArchivePadding(behind: count)
      let total = count + padding.byteCount
      #expect(SizeClass.size(holding: total) == total, "\(count)")
      #expect(padding.sealedCounts.reduce(0, +) == padding.byteCount)
      #expect(padding.sealedCounts.allSatisfy { (Seal.overhead...(64 << 10) + Seal.overhead).contains($0) })
      #expect(ArchivePadding(byteCount: padding.byteCount) == padding)
    }
    #expect(ArchivePadding(byteCount: 0)?.sealedCounts == [], "as archives of before there was any")
    for count in [-1, 1, Seal.overhead - 1] { #expect(ArchivePadding(byteCount: count) == nil) }
  }
}

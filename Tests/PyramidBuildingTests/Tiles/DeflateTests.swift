import Testing
import ZigguratTestSupport

@testable import PyramidBuilding

@Suite struct DeflateTests {
  /// Three bytes over and over behind a first one, so that the fifth begins a match of the second; then noise.
  private func repeating(_ a: UInt8, _ b: UInt8, _ c: UInt8, count: Int, _ random: inout SplitMix) -> [UInt8]
  {
    [0] + (0..<count - 1).map { $0 < 24 ? [a, b, c][$0 % 3] : UInt8(random.below(64)) }
  }

  private func deflated(_ bytes: [UInt8], by deflate: QuickDeflate) throws -> [UInt8] {
    var (bytes, data) = (bytes, [UInt8](repeating: 0, count: 2 * bytes.count + 1024))
    let size = try bytes.withUnsafeMutableBufferPointer { bytes in
      try data.withUnsafeMutableBufferPointer {
        try deflate.deflate(bytes.baseAddress!, count: bytes.count, to: $0.baseAddress!, capacity: $0.count)
      }
    }
    return Array(data[..<size])
  }

  /// In one place of ISA-L's streams each of these would lose its first match.
  @Test func `equal bytes give equal streams at any position`() throws {
    let seed = SplitMix.runSeed
    var random = SplitMix(seed)
    let all = (0..<8).map { _ in QuickDeflate() }
    for place in 0..<QuickDeflate.placeCount {
      for (deflate, count) in zip(all, [17, 25, 40, 1000, 5000, 9000, 70_000, 200_000]) {
        let mask = min(QuickDeflate.hashSize, 1 << UInt32(Int.bitWidth - count.leadingZeroBitCount)) - 1
        let met = deflate.met(at: place) & mask
        var found: [UInt8]?
        while found == nil {
          let (a, b, c) = (UInt8(random.below(256)), UInt8(random.below(256)), UInt8(random.below(256)))
          let value = UInt32(a) | UInt32(b) << 8 | UInt32(c) << 16 | UInt32(a) << 24
          if QuickDeflate.hash(value) & mask == met { found = repeating(a, b, c, count: count, &random) }
        }
        let bytes = try #require(found)
        let made = Set(try all.map { try deflated(bytes, by: $0) })
        #expect(made.count == 1, "\(count) bytes, place \(place), seed \(seed)")
      }
    }
  }

  /// No two places of an encoder are in each other's way, in the smallest of tables.
  @Test func `the four positions of an encoder never collide`() {
    for _ in 0..<100 {
      let deflate = QuickDeflate()
      #expect(
        Set((0..<QuickDeflate.placeCount).map { deflate.met(at: $0) & 15 }).count == QuickDeflate.placeCount)
    }
  }
}

import Testing

@testable import ZigguratFiles

@Suite struct FreeSpaceTests {
  @Test("a free space beyond the range of byte counts is unknown")
  func freeSpace() {
    #expect(byteCount(blocks: .max, of: 4096) == nil && byteCount(blocks: 1 << 63, of: 1) == nil)
    #expect(byteCount(blocks: 3, of: 4096) == 12288 && (freeBytes(at: "/") ?? 0) > 0)
  }
}

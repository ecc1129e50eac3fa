import Testing

@testable import ZigguratFiles

@Suite struct FreeSpaceTests {
  @Test("free space that no number of bytes says is not known")
  func freeSpace() {
    #expect(byteCount(blocks: .max, of: 4096) == nil && byteCount(blocks: 1 << 63, of: 1) == nil)
    #expect(byteCount(blocks: 3, of: 4096) == 12288 && (freeBytes(at: "/") ?? 0) > 0)
  }
}

import Testing

@testable import TileStorage

/// Archives in memory, besides what every storage has to do.
struct MemoryTilesTests {
  private static let pyramid = SmallArchive.pyramid(70, 40, tileSize: 16)

  @Test func `entries have names, and their bytes are counted`() throws {
    let archive = TileArchive(inMemory: Self.pyramid, entries: ["b": [1, 2], "a": []]) { [UInt8($0)] }
    #expect(archive.entryNames == ["a", "b"])
    #expect(archive.entry("b").map { Array($0) } == [1, 2] && archive.entry("a")?.isEmpty == true)
    #expect(archive.entryNames.allSatisfy(archive.isIntact) && archive.entry("c") == nil)
    #expect(archive.byteCount == Self.pyramid.tileCount + 2)
    #expect(!archive.hasTileVersions && !archive.isLocked && !archive.shouldReopen)
  }

  @Test func `the generation depends on all tiles and entries`() {
    func generation(_ changed: Int?, entries: [String: [UInt8]] = ["a": [1]]) -> UInt64 {
      TileArchive(inMemory: Self.pyramid, entries: entries) { $0 == changed ? [99] : [UInt8($0)] }.generation
    }
    #expect(generation(nil) == generation(nil))
    let tiles = [generation(nil), generation(0), generation(5)]
    let entries = [generation(nil, entries: [:]), generation(nil, entries: ["a": [2]])]
    #expect(Set(tiles + entries).count == 5)
  }
}

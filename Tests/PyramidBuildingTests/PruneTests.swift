import Foundation
import Synchronization
import TestSupport
import Testing
import TileStorage

@testable import PyramidBuilding

/// What a library loses when sources go: the oracle is the same sources built into an empty one.
struct PruneTests {
  /// Gray pages of 8 × 8, uncompressed (TIFF 6.0, sections 2 and 8).
  private static func tiff(pages: Int, shade: UInt8) -> [UInt8] {
    func short(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }
    func long(_ value: Int) -> [UInt8] { short(value & 0xffff) + short(value >> 16) }
    var bytes = Array("II".utf8) + short(42) + long(8)
    for page in 1...pages {
      let tags = [(256, 8), (257, 8), (258, 8), (259, 1), (262, 1), (273, 0), (277, 1), (278, 8), (279, 64)]
      let end = bytes.count + 2 + 12 * tags.count + 4
      bytes += short(tags.count)
      for (tag, value) in tags { bytes += short(tag) + short(4) + long(1) + long(tag == 273 ? end : value) }
      bytes += long(page == pages ? 0 : end + 64) + [UInt8](repeating: shade, count: 64)
    }
    return bytes
  }

  /// Builds all of `in` into `library`, then prunes; the library's ids.
  private static func build(
    _ folder: TemporaryFolder, _ library: String, isDryRun: Bool = false
  ) throws -> (ids: [String], pruned: [String]) {
    var options = BuildOptions()
    options.tileSize = 64
    var builder = LibraryBuilder(library: folder(library), options: options, jobs: 2)
    builder.isDryRun = isDryRun
    try builder.prepare()
    let scan = SourceScan([folder("in")], library: folder(library))
    let met = Mutex(MetImages())
    let sources = Dictionary(uniqueKeysWithValues: scan.sources.map { ($0.path, $0) })
    LibraryRun(builder, scan.sources, memoryLimit: 1 << 30) { image, outcome in
      met.withLock { $0.add(image, outcome, of: sources[image.path]!) }
    }.run()
    let pruned = try builder.prune(keeping: met.withLock { $0 }, of: scan.sources)
    let built = folder.files(below: library).filter { $0.hasSuffix(".szi") }.map { String($0.dropLast(4)) }
    return (built, pruned)
  }

  @Test("a folder's images are not pages of the image beside it")
  func sibling() throws {
    let folder = try TemporaryFolder()
    for name in ["in/a.tif", "in/a/b.tif"] { try folder.write(name, Self.tiff(pages: 1, shade: 9)) }
    #expect(try Self.build(folder, "out").ids == ["a", "a/b"])
    try FileManager.default.removeItem(atPath: folder("in/a/b.tif"))
    let dry = try Self.build(folder, "out", isDryRun: true)
    #expect(dry.pruned == ["a/b"] && dry.ids == ["a", "a/b"])
    let wet = try Self.build(folder, "out")
    #expect(wet.pruned == ["a/b"] && wet.ids == ["a"])
  }

  @Test(
    "pages that are no more go, and so does the image that became pages", arguments: [1, 2, 3, 5], [1, 2, 4])
  func pages(before: Int, after: Int) throws {
    let folder = try TemporaryFolder()
    func ids(_ pages: Int) -> [String] { pages == 1 ? ["a"] : (1...pages).map { "a/\($0)" } }
    try folder.write("in/a.tif", Self.tiff(pages: before, shade: 1))
    #expect(try Self.build(folder, "out").ids == ids(before))
    try folder.write("in/a.tif", Self.tiff(pages: after, shade: 2))
    let gone = Set(ids(before)).subtracting(ids(after)).sorted()
    #expect(try Self.build(folder, "out", isDryRun: true).pruned == gone)
    let (left, pruned) = try Self.build(folder, "out")
    #expect(pruned == gone && left == ids(after))
  }

  @Test("what a broken source was built into before stays, all its pages, and nothing of others")
  func broken() throws {
    let folder = try TemporaryFolder()
    try folder.write("in/a.tif", Self.tiff(pages: 3, shade: 1))
    try folder.write("in/a/7.tif", Self.tiff(pages: 1, shade: 1))
    #expect(try Self.build(folder, "out").ids == ["a/1", "a/2", "a/3", "a/7"])
    try folder.write("in/a.tif", Array("no picture".utf8))
    try FileManager.default.removeItem(atPath: folder("in/a/7.tif"))
    #expect(try Self.build(folder, "out").pruned == ["a/7"])
  }

  @Test("an image in a folder and a page that would share an id: the page is refused")
  func sharedID() throws {
    let folder = try TemporaryFolder()
    try folder.write("in/a/2.tif", Self.tiff(pages: 1, shade: 1))
    try folder.write("in/a.tif", Self.tiff(pages: 2, shade: 2))
    for _ in 1...2 {
      let (ids, pruned) = try Self.build(folder, "out")
      #expect(ids == ["a/1", "a/2"] && pruned.isEmpty)
      #expect(try SZIArchive(path: folder("out/a/2.szi")).buildRecord?.sourceName == "2.tif")
    }
  }

  @Test("after any change the library has the ids of one built afresh", arguments: 0..<6)
  func anyChange(run: Int) throws {
    let seed = SplitMix.runSeed &+ UInt64(run)
    var random = SplitMix(seed)
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder("in"), withIntermediateDirectories: true)
    for step in 0..<8 {
      for _ in 0...random.below(3) {
        let path =
          "in/" + random.pick(["a", "b", "a/1", "a/b", "a/b/2", "b/3", "b/a"])
          + random.pick([".tif", ".tiff"])
        if random.sometimes(3) {
          try? FileManager.default.removeItem(atPath: folder(path))
        } else {
          let content = Self.tiff(pages: 1 + random.below(3), shade: UInt8(random.below(256)))
          try folder.write(path, random.sometimes(8) ? Array(content.prefix(12)) : content)
        }
      }
      let wasThere = Set(folder.files(below: "out").filter { $0.hasSuffix(".szi") }.map { $0.dropLast(4) })
      let dry = try Self.build(folder, "out", isDryRun: true).pruned
      let (ids, pruned) = try Self.build(folder, "out")
      let (fresh, _) = try Self.build(folder, "fresh\(step)")
      #expect(dry == pruned, "seed \(seed), step \(step)")
      // A broken source keeps what it had; all else is as if it were built afresh.
      let broken = Set(ids).subtracting(fresh)
      #expect(Set(fresh).isSubset(of: ids), "seed \(seed), step \(step)")
      for id in broken {
        let places = [id, id.lastIndex(of: "/").map { String(id[..<$0]) } ?? id]
        let files = places.flatMap { place in [".tif", ".tiff", ""].map { folder("in/\(place)\($0)") } }
        #expect(
          wasThere.contains(Substring(id))
            && files.contains { (try? bytes(ofFile: $0))?.count == 12 },
          "seed \(seed), step \(step): \(id) stayed, beside \(folder.files(below: "in"))")
      }
    }
  }
}

import Foundation
import Synchronization
import Testing
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratTestSupport

@testable import PyramidBuilding

/// Pruning of images whose sources were removed. The oracle is a build of the same sources into an empty library.
struct LibraryPruningTests {
  /// Gray pages of 8 × 8, uncompressed (TIFF 6.0, sections 2 and 8).
  static func tiff(pages: Int, shade: UInt8) -> [UInt8] {
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

  /// Builds all of `in`, or of `sources`, into `library`, then prunes what looks like no accident; the ids.
  private static func build(
    _ folder: TemporaryFolder, _ library: String, isDryRun: Bool = false, from sources: [String] = ["in"],
    asBooks: Bool = false
  ) throws -> (ids: [ImageID], pruned: [ImageID]) {
    let result = try judge(folder, library, isDryRun: isDryRun, from: sources, asBooks: asBooks)
    return (result.ids, result.pruning.ids)
  }

  private static func judge(
    _ folder: TemporaryFolder, _ library: String, isDryRun: Bool = false, from: [String] = ["in"],
    asBooks: Bool = false, gone: Int = 0
  ) throws -> (ids: [ImageID], pruning: LibraryPruning) {
    var options = BuildOptions()
    options.tileSize = 64
    var builder = LibraryBuilder(library: folder(library), options: options, jobs: 2)
    builder.isDryRun = isDryRun
    try builder.prepare()
    let scan = SourceScan(from.map { folder($0) }, library: folder(library), asBooks: asBooks)
    #expect(scan.failures.isEmpty)
    let met = Mutex(SeenImages())
    let sources = Dictionary(uniqueKeysWithValues: scan.sources.map { ($0.path, $0) })
    LibraryRun(builder, scan.sources, memoryLimit: 1 << 30) { image, outcome in
      met.withLock { $0.add(image, outcome, of: sources[image.path]!) }
    }.run()
    var seen = met.withLock { $0 }
    let origins: any OriginStore
    if isDryRun, !Catalog.exists(in: folder(library)) {
      origins = LibraryOrigins(library: folder(library), catalog: try Catalog(inMemoryOf: "nothing"))
    } else {
      origins = LibraryOrigins(library: folder(library), catalog: try Catalog(library: folder(library)))
    }
    if !isDryRun { try origins.claim(seen.takeClaims()) }
    let pruning = try LibraryPruning(
      of: scan, keeping: seen, in: builder.store, origins: origins, gone: gone)
    if !isDryRun, pruning.refusal == nil { _ = try pruning.run(in: builder.store) }
    return (ids(folder, library), pruning)
  }

  /// Returns the ids of the archives in the library.
  private static func ids(_ folder: TemporaryFolder, _ library: String) -> [ImageID] {
    folder.files(below: library).filter { $0.hasSuffix(".szi") && !$0.hasPrefix(".") }
      .map { "\($0.dropLast(4))" }
  }

  @Test("nothing is pruned for an empty source, even beside another source")
  func emptySource() throws {
    let folder = try TemporaryFolder()
    for name in ["in/a.tif", "in/b.tif", "more/c.tif"] {
      try folder.write(name, Self.tiff(pages: 1, shade: 9))
    }
    #expect(try Self.build(folder, "out", from: ["in", "more"]).ids == ["a", "b", "c"])
    for name in ["in/a.tif", "in/b.tif"] { try FileManager.default.removeItem(atPath: folder(name)) }
    for isDryRun in [true, false] {
      let (ids, pruning) = try Self.judge(folder, "out", isDryRun: isDryRun, from: ["in", "more"])
      #expect(ids == ["a", "b", "c"] && pruning.ids == ["a", "b"])
      #expect(pruning.refusal == .emptySource(folder("in")))
    }
  }

  @Test("images pruned by earlier builds count towards the limit", arguments: [(7, true), (8, false)])
  func bitByBit(gone: Int, goes: Bool) throws {
    let folder = try TemporaryFolder()
    for number in 0..<6 { try folder.write("in/\(number).tif", Self.tiff(pages: 1, shade: 9)) }
    _ = try Self.build(folder, "out")
    for number in 0..<3 { try FileManager.default.removeItem(atPath: folder("in/\(number).tif")) }
    let (_, pruning) = try Self.judge(folder, "out", gone: gone)
    #expect(pruning.ids.count == 3 && (pruning.refusal == nil) == goes)
  }

  @Test(
    "up to ten images are pruned of any library, and a tenth of a large one",
    arguments: [(10, 2, nil), (11, 5, 16), (11, 98, 109), (11, 99, nil)] as [(Int, Int, Int?)])
  func many(gone: Int, left: Int, refused: Int?) throws {
    let folder = try TemporaryFolder()
    for number in 0..<gone { try folder.write("in/gone\(number).tif", Self.tiff(pages: 1, shade: 9)) }
    for number in 0..<left { try folder.write("in/left\(number).tif", Self.tiff(pages: 1, shade: 9)) }
    #expect(try Self.build(folder, "out").ids.count == gone + left)
    for number in 0..<gone { try FileManager.default.removeItem(atPath: folder("in/gone\(number).tif")) }
    let (ids, pruning) = try Self.judge(folder, "out")
    #expect(pruning.ids.count == gone)
    #expect(pruning.refusal == refused.map { .manyOf($0) })
    #expect(ids.count == (refused == nil ? left : gone + left))
  }

  @Test("a build of a part, of other sources or as books prunes only its own images")
  func otherSources() throws {
    let folder = try TemporaryFolder()
    for name in ["in/a.tif", "in/deep/b.tif", "in/deep/c.tif", "other/d.tif"] {
      try folder.write(name, Self.tiff(pages: 1, shade: 9))
    }
    #expect(try Self.build(folder, "out").pruned == [])
    #expect(try Self.build(folder, "out", from: ["in/deep"]).pruned == [])
    #expect(try Self.build(folder, "out", from: ["other"]).pruned == [])
    #expect(try Self.build(folder, "out", from: ["in"], asBooks: true).pruned == [])
    let all: [ImageID] = ["a", "b", "c", "d", "deep/b", "deep/c", "in/a"]
    #expect(Self.ids(folder, "out") == all)
    try FileManager.default.removeItem(atPath: folder("in/deep/c.tif"))
    // It is a book's page by now.
    #expect(try Self.build(folder, "out", from: ["in/"]).pruned == [])
    #expect(try Self.build(folder, "out", from: ["in/deep"]).pruned == ["c"])
    #expect(try Self.build(folder, "out", asBooks: true).pruned == ["deep/c"])
    #expect(try Self.build(folder, "out", from: ["in/a.tif"]).pruned == [])
    #expect(Self.ids(folder, "out") == all.filter { !["c", "deep/c"].contains($0) })
  }

  @Test("a pattern prunes its former matches, and a link its former targets")
  func patternsAndLinks() throws {
    let folder = try TemporaryFolder()
    for name in ["in/a.tif", "in/b.tif", "in/c.tiff", "new/b.tif"] {
      try folder.write(name, Self.tiff(pages: 1, shade: 9))
    }
    #expect(try Self.build(folder, "out", from: ["in/*.tif"]).ids == ["a", "b"])
    #expect(try Self.build(folder, "out", from: ["in/*.tiff"]).pruned == [])
    try FileManager.default.removeItem(atPath: folder("in/b.tif"))
    #expect(try Self.build(folder, "out", from: ["in/*.tif"]).pruned == ["b"])
    let link = folder("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "in")
    #expect(try Self.build(folder, "led", from: ["link"]).ids == ["a", "c"])
    try FileManager.default.removeItem(atPath: link)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "new")
    #expect(try Self.build(folder, "led", from: ["link/"]).pruned == ["a", "c"])
  }

  @Test("a replaced or restored archive is not pruned with the former image")
  func replacements() throws {
    let folder = try TemporaryFolder()
    for name in ["in/a.tif", "in/b.tif", "in/c.tif", "else/x.tif"] {
      try folder.write(name, Self.tiff(pages: 1, shade: 9))
    }
    #expect(try Self.build(folder, "out").ids == ["a", "b", "c"])
    #expect(try Self.build(folder, "strange", from: ["else"]).ids == ["x"])
    for name in ["a", "b"] { try FileManager.default.removeItem(atPath: folder("in/\(name).tif")) }
    try FileManager.default.removeItem(atPath: folder("out/a.szi"))
    try FileManager.default.copyItem(atPath: folder("strange/x.szi"), toPath: folder("out/a.szi"))
    try folder.write("out/b.xmp", Array("words".utf8))
    #expect(try Self.build(folder, "out").pruned == ["b"])
    #expect(Self.ids(folder, "out") == ["a", "c"])
    let trash = TrashFolder(library: folder("out"))
    #expect(!folder.files(below: "out").contains("b.xmp"))
    let deletion = try #require(trash.deletions(since: 0).first)
    #expect(deletion.images == ["b"])
    // As the listing is brought up to date after a build.
    try Catalog(library: folder("out")).update([], removing: ["b"])
    _ = try trash.restore(deletion.name, since: 0)
    #expect(try Self.build(folder, "out").pruned == [])
    #expect(Self.ids(folder, "out") == ["a", "b", "c"] && folder.files(below: "out").contains("b.xmp"))
  }

  @Test("without a catalog, a build learns the sources of its images")
  func unknown() throws {
    let folder = try TemporaryFolder()
    for name in ["a", "b", "c"] { try folder.write("in/\(name).tif", Self.tiff(pages: 1, shade: 9)) }
    #expect(try Self.build(folder, "out").ids == ["a", "b", "c"])
    for ending in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: folder("out/catalog.sqlite\(ending)"))
    }
    try FileManager.default.removeItem(atPath: folder("in/a.tif"))
    #expect(try Self.build(folder, "out").pruned == [])
    try FileManager.default.removeItem(atPath: folder("in/b.tif"))
    #expect(try Self.build(folder, "out").pruned == ["b"])
    #expect(Self.ids(folder, "out") == ["a", "c"])
  }

  @Test("the same picture from two places gives the same bytes")
  func sameBytes() throws {
    let folder = try TemporaryFolder()
    for place in ["one/in", "two/other"] { try folder.write("\(place)/a.tif", Self.tiff(pages: 1, shade: 9)) }
    _ = try Self.build(folder, "first", from: ["one/in"])
    _ = try Self.build(folder, "second", from: ["two/other"])
    #expect(try bytes(ofFile: folder("first/a.szi")) == bytes(ofFile: folder("second/a.szi")))
  }

  @Test("a folder's images are not pages of the image beside it")
  func sibling() throws {
    let folder = try TemporaryFolder()
    for name in ["in/a.tif", "in/a/b.tif"] { try folder.write(name, Self.tiff(pages: 1, shade: 9)) }
    #expect(try Self.build(folder, "out").ids == ["a", "a/b"])
    try FileManager.default.removeItem(atPath: folder("in/a"))
    let dry = try Self.build(folder, "out", isDryRun: true)
    #expect(dry.pruned == ["a/b"] && dry.ids == ["a", "a/b"])
    let wet = try Self.build(folder, "out")
    #expect(wet.pruned == ["a/b"] && wet.ids == ["a"])
  }

  @Test(
    "removed pages are pruned, and so is an image that became pages", arguments: [1, 2, 3, 5], [1, 2, 4])
  func pages(before: Int, after: Int) throws {
    let folder = try TemporaryFolder()
    func ids(_ pages: Int) -> [ImageID] { pages == 1 ? ["a"] : (1...pages).map { "a/\($0)" } }
    try folder.write("in/a.tif", Self.tiff(pages: before, shade: 1))
    #expect(try Self.build(folder, "out").ids == ids(before))
    try folder.write("in/a.tif", Self.tiff(pages: after, shade: 2))
    let gone = Set(ids(before)).subtracting(ids(after)).sorted()
    #expect(try Self.build(folder, "out", isDryRun: true).pruned == gone)
    let (left, pruned) = try Self.build(folder, "out")
    #expect(pruned == gone && left == ids(after))
  }

  @Test("all former pages of a broken source stay, and no others")
  func broken() throws {
    let folder = try TemporaryFolder()
    try folder.write("in/a.tif", Self.tiff(pages: 3, shade: 1))
    try folder.write("in/a/7.tif", Self.tiff(pages: 1, shade: 1))
    #expect(try Self.build(folder, "out").ids == ["a/1", "a/2", "a/3", "a/7"])
    try folder.write("in/a.tif", Array("no picture".utf8))
    try FileManager.default.removeItem(atPath: folder("in/a"))
    #expect(try Self.build(folder, "out").pruned == ["a/7"])
  }

  @Test("a page that would share the id of an image in a folder is rejected")
  func sharedID() throws {
    let folder = try TemporaryFolder()
    try folder.write("in/a/2.tif", Self.tiff(pages: 1, shade: 1))
    try folder.write("in/a.tif", Self.tiff(pages: 2, shade: 2))
    for _ in 1...2 {
      let (ids, pruned) = try Self.build(folder, "out")
      #expect(ids == ["a/1", "a/2"] && pruned.isEmpty)
      #expect(try TileArchive(path: folder("out/a/2.szi")).buildRecord?.sourceName == "2.tif")
    }
  }

  @Test("after any change, the library has the ids of a new build", arguments: 0..<6)
  func anyChange(run: Int) throws {
    let seed = SplitMix.runSeed &+ UInt64(run)
    var random = SplitMix(seed)
    let folder = try TemporaryFolder()
    // Of a source that is quite empty nothing goes.
    try folder.write("in/always.tif", Self.tiff(pages: 1, shade: 0))
    for step in 0..<8 {
      for _ in 0...random.below(3) {
        let path =
          "in/" + random.pick(["a", "b", "a/1", "a/b", "a/b/2", "b/3", "b/a"])
          + random.pick([".tif", ".tiff"])
        if random.sometimes(3) {
          try? FileManager.default.removeItem(atPath: folder(path))
          // Images stay whose folder exists and is empty.
          var left = parentFolder(folder(path))
          while rmdir(left) == 0 { left = parentFolder(left) }
        } else {
          let content = Self.tiff(pages: 1 + random.below(3), shade: UInt8(random.below(256)))
          try folder.write(path, random.sometimes(8) ? Array(content.prefix(12)) : content)
        }
      }
      let wasThere = Set(Self.ids(folder, "out"))
      let dry = try Self.build(folder, "out", isDryRun: true).pruned
      let (ids, pruned) = try Self.build(folder, "out")
      let (fresh, _) = try Self.build(folder, "fresh\(step)")
      #expect(dry == pruned, "seed \(seed), step \(step)")
      // A broken source keeps what it had; all else is as if it were built afresh.
      let broken = Set(ids).subtracting(fresh)
      #expect(Set(fresh).isSubset(of: ids), "seed \(seed), step \(step)")
      for id in broken {
        let places = [id, id.folder ?? id]
        let files = places.flatMap { place in [".tif", ".tiff", ""].map { folder("in/\(place)\($0)") } }
        #expect(
          wasThere.contains(id)
            && files.contains { (try? bytes(ofFile: $0))?.count == 12 },
          "seed \(seed), step \(step): \(id) stayed, beside \(folder.files(below: "in"))")
      }
    }
  }
}

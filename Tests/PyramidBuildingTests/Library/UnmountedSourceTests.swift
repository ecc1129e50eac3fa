import Foundation
import Synchronization
import Testing
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratTestSupport

@testable import PyramidBuilding

/// Empty folders below a source, and in place of a pattern: they may be mount points of disks that are not mounted.
struct UnmountedSourceTests {
  private struct Built {
    let scan: SourceScan
    let store: any ArchiveStore
    let origins: LibraryOrigins
    let met: SeenImages

    func pruning(isCareful: Bool = true) throws -> LibraryPruning {
      try LibraryPruning(of: scan, keeping: met, in: store, origins: origins, isCareful: isCareful)
    }
  }

  /// Builds the sources into `out` and remembers their owners.
  private static func build(
    _ folder: TemporaryFolder, from sources: [String], asBooks: Bool = false
  ) throws -> Built {
    var options = BuildOptions()
    options.tileSize = 64
    let builder = LibraryBuilder(library: folder("out"), options: options, jobs: 2)
    try builder.prepare()
    let scan = SourceScan(sources.map { folder($0) }, library: folder("out"), asBooks: asBooks)
    #expect(scan.failures.isEmpty)
    let met = Mutex(SeenImages())
    let found = Dictionary(uniqueKeysWithValues: scan.sources.map { ($0.path, $0) })
    LibraryRun(builder, scan.sources, memoryLimit: 1 << 30) { image, outcome in
      met.withLock { $0.add(image, outcome, of: found[image.path]!) }
    }.run()
    var seen = met.withLock { $0 }
    let origins = LibraryOrigins(library: folder("out"), catalog: try Catalog(library: folder("out")))
    try origins.claim(seen.takeClaims())
    try origins.remember(
      Dictionary(scan.roots.map { ($0.root, $0.place) }, uniquingKeysWith: { first, _ in first }))
    return Built(scan: scan, store: builder.store, origins: origins, met: seen)
  }

  private static func write(_ names: [String], _ folder: TemporaryFolder) throws {
    for (number, name) in names.enumerated() {
      try folder.write(name, LibraryPruningTests.tiff(pages: 1, shade: UInt8(number + 1)))
    }
  }

  private static func remove(_ names: String..., in folder: TemporaryFolder) throws {
    for name in names { try FileManager.default.removeItem(atPath: folder(name)) }
  }

  /// A pattern does not show the folder of a missing file, so each empty folder counts.
  @Test(
    arguments: [
      ("in", false, ["disk/a", "disk/deep/b"], ["o/d"]), ("in", true, ["disk/a", "disk/deep/b"], ["o/d"]),
      ("in/*/*.tif", false, ["a", "d"], []),
    ] as [(String, Bool, [ImageID], [ImageID])])
  func `images of an empty folder are pruned only on request, those of a removed one always`(
    source: String, asBooks: Bool, spared: [ImageID], gone: [ImageID]
  ) throws {
    let folder = try TemporaryFolder()
    try Self.write(["in/disk/a.tif", "in/disk/deep/b.tif", "in/o/c.tif", "in/o/d.tif"], folder)
    _ = try Self.build(folder, from: [source], asBooks: asBooks)
    try Self.remove("in/disk", "in/o/d.tif", in: folder)
    try folder.write("in/disk/.hidden", [])
    let built = try Self.build(folder, from: [source], asBooks: asBooks)
    let careful = try built.pruning()
    #expect(careful.ids == gone && careful.refusal == nil)
    #expect(careful.spared == LibraryPruning.Spared(ids: spared, folders: [folder("in/disk")]))
    let whole = try built.pruning(isCareful: false)
    #expect(whole.ids == (spared + gone).sorted() && whole.spared == nil)
    try Self.remove("in/disk", in: folder)
    let removed = try built.pruning()
    #expect(removed.ids == whole.ids && removed.spared == nil)
  }

  @Test func `a copy does not become the image of a disk that is not mounted, a moved file does`() throws {
    let folder = try TemporaryFolder()
    try Self.write(["in/disk/a.tif", "in/o.tif"], folder)
    let built = try Self.build(folder, from: ["in"])
    let digest = try #require(built.store.buildRecord(ofID: "disk/a")?.sourceDigest)
    try FileManager.default.moveItem(atPath: folder("in/disk/a.tif"), toPath: folder("in/copy.tif"))
    func former() -> ImageID? {
      let scan = SourceScan([folder("in")], library: folder("out"))
      guard let catalog = try? Catalog(library: folder("out")) else { return nil }
      let origins = LibraryOrigins(library: folder("out"), catalog: catalog)
      let images = MissingImages(
        of: scan, in: FolderStore(library: folder("out")),
        among: { (try? origins.images(from: Set(scan.roots.map(\.root)))) ?? [] },
        owners: { (try? origins.owners(of: $0)) ?? [:] }, announce: { _, _ in })
      return images.take(MissingImages.Made(digest: digest, page: nil, associatedAs: nil), for: "copy")
    }
    #expect(former() == "disk/a")
    // A mount point was empty before the image was built.
    let before = Date(timeIntervalSince1970: 1_000_000_000)
    try FileManager.default.setAttributes([.modificationDate: before], ofItemAtPath: folder("in/disk"))
    #expect(former() == nil)
    try Self.remove("in/disk", in: folder)
    #expect(former() == "disk/a")
  }

  /// Returns the reason why `other/p.tif` may not become the image `p`.
  private static func refusal(_ folder: TemporaryFolder) throws -> String? {
    let store = FolderStore(library: folder("out"))
    let digest = try #require(store.buildRecord(ofID: "p")?.sourceDigest)
    let scan = SourceScan([folder("other")], library: folder("out"))
    let ownership = try ImageOwnership(
      of: scan.sources, among: scan.sources, in: store,
      origins: LibraryOrigins(library: folder("out"), catalog: try Catalog(library: folder("out"))),
      takesAll: false, digest: { $0.id == "p" ? digest : nil })
    let source = try #require(scan.sources.first { $0.id == "p" })
    return try ownership.refusal(of: source, pageOf: nil, digest: digest)
  }

  @Test func `a pattern keeps its images while its disk is not mounted`() throws {
    let folder = try TemporaryFolder()
    try Self.write(["mnt/p.tif", "mnt/k.tif"], folder)
    try Self.write(["other/p.tif"], folder)
    _ = try Self.build(folder, from: ["mnt/*.tif"])
    #expect(try Self.refusal(folder)?.contains(folder("mnt/p.tif")) == true)
    try Self.remove("mnt/p.tif", in: folder)
    #expect(try Self.refusal(folder) == nil)
    try Self.remove("mnt/k.tif", in: folder)
    #expect(try Self.refusal(folder)?.contains("is its disk mounted?") == true)
    try folder.write("mnt/notes.txt", [])
    #expect(try Self.refusal(folder) == nil)
  }

  @Test func `a pattern of several disks keeps its images while one of them is not mounted`() throws {
    let folder = try TemporaryFolder()
    try Self.write(["disks/1/p.tif", "disks/2/k.tif", "disks/3/l.tif"], folder)
    try Self.write(["other/p.tif"], folder)
    _ = try Self.build(folder, from: ["disks/*/*.tif"])
    for name in ["1/p", "2/k", "3/l"] {
      try Self.remove("disks/\(name).tif", in: folder)
      #expect(try Self.refusal(folder)?.contains("is its disk mounted?") == true)
    }
    for disk in ["1", "2"] { try Self.remove("disks/\(disk)", in: folder) }
    #expect(try Self.refusal(folder) != nil)
    try folder.write("disks/3/notes.txt", [])
    #expect(try Self.refusal(folder) == nil)
  }
}

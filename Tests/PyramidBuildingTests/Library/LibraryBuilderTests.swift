import Foundation
import Synchronization
import Testing
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import PyramidBuilding

/// Many images into one library.
struct LibraryBuilderTests {
  private static func picture(_ folder: TemporaryFolder, _ name: String, width: Int = 90) throws {
    try folder.write(name, Picture(width: width, height: 70, bands: 3).image.pngBytes())
  }

  /// Builds everything below `in` into `out`; how each id came out: `built`, `unchanged` or the reason.
  private static func run(
    _ folder: TemporaryFolder, force: Bool = false, jobs: Int = 2, memoryLimit: Int = 1 << 30,
    isCancelled: @escaping @Sendable () -> Bool = { false }, quality: Int = 80
  ) throws -> [ImageID: String] {
    var options = BuildOptions()
    (options.tileSize, options.quality) = (64, quality)
    var builder = LibraryBuilder(
      library: folder("out"), options: options, jobs: jobs, isCancelled: isCancelled)
    builder.force = force
    try builder.prepare()
    let scan = SourceScan([folder("in")], library: folder("out"))
    let outcomes = Mutex<[ImageID: String]>([:])
    LibraryRun(builder, scan.sources, memoryLimit: memoryLimit) { source, outcome in
      let word =
        switch outcome {
        case .built: "built"
        case .unchanged: "unchanged"
        case .outdated: "outdated"
        case .failed(let error), .refused(let error): error.reason
        case .metadataUpdated: "metadata-updated"
        case .wouldUpdateMetadata: "would update metadata"
        case .moved(let former): "moved from \(former)"
        case .wouldMove(let former): "would move from \(former)"
        case .wouldBuild: "would build"
        case .withdrawn, .wouldWithdraw: outcome.status
        }
      outcomes.withLock { $0[source.id] = ($0[source.id].map { $0 + ", " } ?? "") + word }
    }.run()
    return outcomes.withLock { $0 }
  }

  @Test("unchanged images are kept, and changed ones are rebuilt")
  func unchanged() throws {
    let folder = try TemporaryFolder()
    try Self.picture(folder, "in/a.png")
    try Self.picture(folder, "in/sub/b.png")
    #expect(try Self.run(folder) == ["a": "built", "sub/b": "built"])
    #expect(folder.files(below: "out").filter { $0.hasSuffix(".szi") } == ["a.szi", "sub/b.szi"])
    let before = try TileArchive(path: folder("out/a.szi")).file?.identity
    // A newer date alone is no change.
    try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: folder("in/a.png"))
    #expect(try Self.run(folder) == ["a": "unchanged", "sub/b": "unchanged"])
    #expect(try TileArchive(path: folder("out/a.szi")).file?.identity == before)
    try Self.picture(folder, "in/sub/b.png", width: 91)
    #expect(try Self.run(folder) == ["a": "unchanged", "sub/b": "built"])
    #expect(try TileArchive(path: folder("out/sub/b.szi")).pyramid.imageSize.width == 91)
    #expect(try Self.run(folder, quality: 81) == ["a": "built", "sub/b": "built"])
    #expect(try Self.run(folder, force: true, quality: 81) == ["a": "built", "sub/b": "built"])
  }

  @Test("a damaged or foreign archive is rebuilt")
  func damagedArchive() throws {
    let folder = try TemporaryFolder()
    try Self.picture(folder, "in/a.png")
    for content in [[], Array("no archive".utf8)] as [[UInt8]] {
      try folder.write("out/a.szi", content)
      #expect(try Self.run(folder) == ["a": "built"])
    }
    let whole = try bytes(ofFile: folder("out/a.szi"))
    try folder.write("out/a.szi", whole[..<(whole.count / 2)])
    #expect(try Self.run(folder) == ["a": "built"])
    #expect(try bytes(ofFile: folder("out/a.szi")) == whole)
  }

  @Test("one damaged source does not prevent the build of the others", arguments: [1, 2, 7])
  func mixed(jobs: Int) throws {
    let folder = try TemporaryFolder()
    for number in 1...6 { try Self.picture(folder, "in/\(number).png", width: 60 + number * 20) }
    try folder.write("in/bad.png", Array("no picture".utf8))
    try folder.write("in/empty.jpg", [])
    let outcomes = try Self.run(folder, jobs: jobs)
    #expect(outcomes.count == 8)
    #expect((1...6).allSatisfy { outcomes["\($0)"] == "built" })
    #expect(outcomes["empty"] == "the file is empty")
    #expect(outcomes["bad"] != "built")
    #expect(folder.files(below: "out").filter { !$0.hasSuffix(".szi") && $0.hasSuffix(".partial") }.isEmpty)
  }

  @Test("leftovers of killed builders are removed; files of running ones are kept")
  func leftovers() throws {
    let folder = try TemporaryFolder()
    try Self.picture(folder, "in/a.png")
    try folder.write("out/.ziggurat-AAAAAA.partial", [1])
    try folder.write("out/deep/er/.ziggurat-BBBBBB.partial", [1])
    try folder.write("out/.ziggurat-notes", [1])
    let busy = open(try folder.write("out/.ziggurat-CCCCCC.partial", [1]), O_RDONLY)
    #expect(flock(busy, LOCK_EX) == 0)
    #expect(try Self.run(folder) == ["a": "built"])
    #expect(
      folder.files(below: "out").filter { $0.contains("ziggurat-") }
        == [".ziggurat-CCCCCC.partial", ".ziggurat-notes"])
    close(busy)
    #expect(try Self.run(folder) == ["a": "unchanged"])
    #expect(folder.files(below: "out").filter { $0.contains(".partial") }.isEmpty)
  }

  @Test("a cancelled run completes nothing more and leaves nothing")
  func cancelled() throws {
    let folder = try TemporaryFolder()
    for number in 1...4 { try Self.picture(folder, "in/\(number).png") }
    let outcomes = try Self.run(folder, isCancelled: { true })
    #expect(outcomes.values.allSatisfy { $0 == "interrupted" })
    #expect(folder.files(below: "out").filter { $0.hasSuffix(".szi") || $0.hasSuffix(".partial") }.isEmpty)
  }

  @Test("a picture that needs too much memory is rejected with both numbers")
  func memory() throws {
    let folder = try TemporaryFolder()
    try Self.picture(folder, "in/a.png")
    let outcomes = try Self.run(folder, memoryLimit: 1 << 20)
    let reason = try #require(outcomes["a"])
    #expect(reason.hasSuffix("MB, more than --memory-limit allows, which is 1 MB"), "\(reason)")
    #expect(folder.files(below: "out").filter { $0.hasSuffix(".szi") || $0.hasSuffix(".partial") }.isEmpty)
  }

  @Test("a library that cannot be created is reported in one line")
  func noLibrary() throws {
    let folder = try TemporaryFolder()
    try folder.write("file", [1])
    let builder = LibraryBuilder(library: folder("file"), options: BuildOptions(), jobs: 1)
    let error = #expect(throws: StorageError.self) { try builder.prepare() }
    #expect(error?.description == "cannot make the folder \(folder("file")): there is a file of that name")
    let below = LibraryBuilder(library: folder("file/deep/er"), options: BuildOptions(), jobs: 1)
    #expect(throws: StorageError.self) { try below.prepare() }
  }
}

import Foundation
import Synchronization
import Testing
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import PyramidBuilding

/// Books whose pages were called by numbers get those names that pages have now, and no page twice.
struct LegacyPageIDsTests {
  private let folder: TemporaryFolder
  private let store: FolderStore
  private let builder: LibraryBuilder

  init() throws {
    folder = try TemporaryFolder()
    store = FolderStore(library: folder("out"))
    var options = BuildOptions()
    options.tileSize = 64
    builder = LibraryBuilder(store: store, options: options, jobs: 1)
    try builder.prepare()
  }

  private func write(_ name: String, _ shade: UInt8) throws {
    try folder.write("in/\(name).ppm", Array("P5 2 2 255\n".utf8) + [shade, shade, shade, shade])
  }

  private func run(_ sources: [SourceScan.Source]) -> SeenImages {
    let met = Mutex(SeenImages())
    LibraryRun(builder, sources, memoryLimit: 1 << 30) { image, outcome in
      if case .failed(let error) = outcome { Issue.record("\(error)") }
      met.withLock { $0.add(image, outcome, of: image) }
    }.run()
    return met.withLock { $0 }
  }

  /// As an earlier version built them.
  private func buildNumbered(_ names: [String]) throws {
    for (number, name) in zip(1..., names) {
      let id: ImageID = "in/\(number)"
      _ = run([SourceScan.Source(path: folder("in/\(name).ppm"), id: id)])
      let isWritten = try store.rewrite(id: id) { record, own in
        var record = record
        record.page = number
        return ArchiveMetadata(record, own: own, effective: own)
      }
      #expect(isWritten)
    }
  }

  private func bind() throws -> [String] {
    let scan = SourceScan([folder("in")], library: folder("out"), asBooks: true)
    let met = run(scan.sources)
    let (gone, errors) = try LegacyPageIDs(of: scan, keeping: met, in: store).run(in: store)
    #expect(errors.isEmpty && Set(gone).isDisjoint(with: scan.sources.map(\.id)))
    return folder.files(below: "out").filter { $0.hasSuffix(".szi") && !$0.hasPrefix(".") }.map {
      String($0.dropLast(4))
    }
  }

  @Test("no image is lost or duplicated, and an image without a replacement stays")
  func numbered() throws {
    for (name, shade) in [("f1r", 1), ("f1v", 2), ("f2r", 3)] { try write(name, UInt8(shade)) }
    try buildNumbered(["f1r", "f1v", "f2r"])
    // Gone from the sources: what becomes of it is for --prune to say.
    try FileManager.default.removeItem(atPath: folder("in/f1v.ppm"))
    #expect(try bind() == ["in/2", "in/f1r", "in/f2r"])
    let record = try #require(store.buildRecord(ofID: "in/f2r"))
    #expect(record.folio == "f2r" && record.page == nil && record.book(ofPage: "in/f2r") == "in")
    // In the trash, not lost.
    let deletions = TrashFolder(library: folder("out")).deletions(since: 0)
    #expect(deletions.map(\.images) == [["in/1", "in/3"]])
    #expect(try bind() == ["in/2", "in/f1r", "in/f2r"])
  }

  @Test("files named by numbers keep their own ids and take over free ones")
  func numbers() throws {
    for (name, shade) in [("2", 1), ("3", 2), ("04", 3)] { try write(name, UInt8(shade)) }
    try buildNumbered(["2", "3", "04"])
    #expect(try bind() == ["in/04", "in/2", "in/3"])
    for (name, shade) in [("2", 1), ("3", 2), ("04", 3)] {
      let record = try #require(store.buildRecord(ofID: "in/\(name)"))
      #expect(record.folio == name && record.page == nil && record.sourceName == "\(name).ppm", "\(shade)")
    }
    #expect(TrashFolder(library: folder("out")).deletions(since: 0).map(\.images) == [["in/1"]])
  }

  @Test("a picture becomes a page, and a picture again, without being tiled again")
  func reworded() throws {
    try write("f1r", 9)
    let id: ImageID = "in/f1r"
    let picture = SourceScan.Source(path: folder("in/f1r.ppm"), id: id)
    _ = run([picture])
    let page = SourceScan([folder("in")], library: folder("out"), asBooks: true).sources
    for source in [page[0], picture] {
      var statuses: [String] = []
      for _ in 0..<2 {
        LibraryRun(builder, [source], memoryLimit: 1 << 30) { statuses.append($1.status) }.run()
      }
      #expect(statuses == ["metadata-updated", "unchanged"])
      #expect(store.buildRecord(ofID: id)?.folio == source.folio)
    }
  }
}

import Foundation
import Testing
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratCatalog

/// Metadata of untrusted images, however long, which must not keep other images out of the list.
@Suite struct ExtremeMetadataTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// No compression makes it short, and no word of a search is in it.
  private static func noise(_ count: Int) -> String {
    let letters = Array("bcdfghjklmnpqrstvwxz".utf8)
    var random = SystemRandomNumberGenerator()
    return String(
      decoding: (0..<count).map { _ in letters[Int(truncatingIfNeeded: random.next() % 20)] }, as: UTF8.self)
  }

  private static func entry(_ id: ImageID, _ metadata: ImageMetadata) -> CatalogEntry {
    var entry = CatalogTests.entry(id)
    entry.metadata = metadata
    return entry
  }

  @Test(arguments: DatabaseKind.allCases)
  func `images with very long metadata are listed and found`(kind: DatabaseKind) throws {
    let catalog = try kind.catalog(in: folder)
    let digits = (0..<6000).map { _ in String(Int.random(in: 0...9)) }.joined()
    let metadata = (0..<30_000).map { _ in Self.noise(9) }.joined(separator: " ")
    let marked = String(repeating: "a" + String(repeating: "\u{200d}\u{1f469}", count: 60), count: 300)
    let entries = [
      Self.entry("date", ImageMetadata(date: "2001-02-03T04:05:06." + digits)),
      Self.entry("words", ImageMetadata(caption: "quay " + metadata)),
      Self.entry("one", ImageMetadata(caption: "mole " + Self.noise(200_000))),
      Self.entry("title", ImageMetadata(title: marked)), Self.entry("plain", ImageMetadata(title: "Quay")),
    ]
    try catalog.update(entries, removing: [])
    for order in ListOrder.names {
      let listed = try catalog.list(by: ListOrder(order)!, after: nil, limit: 10)
      #expect(listed.entries.count == 5, "\(order)")
    }
    #expect(try Set(catalog.search("quay", after: nil, limit: 5).entries.map(\.id)) == ["words", "plain"])
    #expect(try catalog.search("mole", after: nil, limit: 5).entries.map(\.id) == ["one"])
    // A value that is cut only for an index is returned whole.
    #expect(try catalog.entries(["date"]).first?.metadata.date?.utf8.count == 6020)
  }

  @Test(arguments: DatabaseKind.allCases, [Double.infinity, -.infinity, .nan, 0, -1])
  func `a scale that is not a positive number is ignored`(kind: DatabaseKind, microns: Double) throws {
    let catalog = try kind.catalog(in: folder)
    var entry = CatalogTests.entry("scaled")
    entry.micronsPerPixel = microns
    try catalog.update([entry], removing: [])
    #expect(try catalog.entries(["scaled"]).map(\.micronsPerPixel) == [nil])
  }

  @Test func `a batch is stored except the rows that no index can hold, which are reported`() throws {
    let catalog = try DatabaseKind.postgreSQL.catalog(in: folder)
    let long = try #require(ImageID((0..<12).map { _ in Self.noise(250) }.joined(separator: "/")))
    let ids: [ImageID] = ["a", "b", "c", long, "e", "f", "g"]
    let refused = try catalog.take(
      SharedCatalogTests.change(ids.map { SharedCatalogTests.archive($0) }), parts: ["1"])
    #expect(refused.refused.map(\.action) == ["list \(long)"])
    #expect(try Set(catalog.archives(of: ids).keys) == Set(ids).subtracting([long]))
    #expect(try catalog.count() == 6 && catalog.parts() == ["1"])
    // One alone, with what else was to be taken.
    let again = try catalog.take(
      SharedCatalogTests.change([SharedCatalogTests.archive(long)], gone: ["a"]), parts: ["2"])
    #expect(again.refused.count == 1)
    #expect(try catalog.count() == 5 && catalog.parts() == ["1", "2"])
    #expect(throws: StorageError.self) { try catalog.reserve(long, for: "upload") }
    // Errors that no image causes end the batch.
    let address = try PostgreSQLServer.shared.get().schema((folder.path as NSString).lastPathComponent)
    try Tool.check(["psql", "-q", address, "-c", "ALTER TABLE archive RENAME TO elsewhere"])
    #expect(throws: StorageError.self) {
      try catalog.take(SharedCatalogTests.change([SharedCatalogTests.archive("h")]))
    }
  }
}

import Foundation
import Testing
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratCatalog

/// Removals from a catalog that servers share: archives, old changes, and the right to write.
@Suite struct RemovedArchivesTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open() throws -> Catalog { try DatabaseKind.postgreSQL.catalog(in: folder) }

  /// Connects as another program does.
  private func connection() throws -> PostgreSQLConnection {
    let name = (folder.path as NSString).lastPathComponent
    let connection = try PostgreSQLConnection(PostgreSQLServer.shared.get().schema(name))
    try connection.run("SET idle_in_transaction_session_timeout = 0")
    return connection
  }

  @Test func `a removed archive is not a former archive of a new image with its id`() throws {
    let catalog = try open()
    let start = try catalog.place()
    try catalog.take(
      SharedCatalogTests.change([
        SharedCatalogTests.archive("a", 1), SharedCatalogTests.archive("b", 1),
        SharedCatalogTests.archive("c", 1),
      ]))
    try catalog.take(
      SharedCatalogTests.change([
        SharedCatalogTests.archive("a", 2), SharedCatalogTests.archive("b", 2),
        SharedCatalogTests.archive("c", 2),
      ]))
    #expect(try catalog.gone(among: ["a", "b", "c", "none"]) == ["none"])
    // One goes by its builder, and one by a visitor; both ids are others' at once.
    try catalog.take(SharedCatalogTests.change([], gone: ["a"]))
    #expect(try catalog.delete(["b"], as: "\(String(Int(time(nil)), radix: 16))-1", at: 1) == ["b"])
    try catalog.take(
      SharedCatalogTests.change([
        SharedCatalogTests.archive("a", 3), SharedCatalogTests.archive("b", 3),
        SharedCatalogTests.archive("c", 3),
      ]))
    let rows = try catalog.archives(of: ["a", "b", "c"])
    #expect(["a", "b", "c"].map { rows[$0]?.current?.generation } == [3, 3, 3])
    #expect(["a", "b", "c"].map { rows[$0]?.former.map(\.row.generation) } == [[], [], [2, 1]])
    // Caches are to forget what they have of those.
    #expect(try Set(catalog.gone(among: ["a", "b", "c"])) == ["a", "b"])
    var (reported, since): (Set<ImageID>, [ImageID]) = ([], [])
    try catalog.gone(between: start, and: try catalog.place()) { reported.formUnion($0) }
    try catalog.gone(since: Int(time(nil)) - 60) { since += $0 }
    #expect(reported == ["a", "b"] && since == ["a", "b"])
    // What is built again as it was is the image, and nothing that went.
    try catalog.take(SharedCatalogTests.change([SharedCatalogTests.archive("a", 2)]))
    #expect(try catalog.archives(of: ["a"])["a"]?.former.map(\.row.generation) == [3])
  }

  @Test func `an image is deleted only in the version that the client knows`() throws {
    let catalog = try open()
    try catalog.take(SharedCatalogTests.change([SharedCatalogTests.archive("a", .max - 1)]))
    #expect(try catalog.delete(["a"], as: "1", at: 1, onlyOf: (7, 0)).isEmpty)
    #expect(try catalog.delete(["a"], as: "1", at: 1, onlyOf: (.max - 1, 1)).isEmpty)
    #expect(try catalog.write(sidecar: Array("<x/>".utf8), of: CatalogTests.entry("a"), after: 0))
    #expect(try catalog.delete(["a"], as: "1", at: 1, onlyOf: (.max - 1, 0)).isEmpty)
    #expect(try catalog.delete(["none"], as: "1", at: 1, onlyOf: (.max - 1, 0)).isEmpty)
    #expect(try catalog.deletions(since: 0).isEmpty)
    #expect(try catalog.delete(["a"], as: "1", at: 1, onlyOf: (.max - 1, 1)) == ["a"])
  }

  @Test func `changes read under a former lease are not stored`() throws {
    let catalog = try open()
    let making = catalog.making
    try catalog.take(SharedCatalogTests.change([SharedCatalogTests.archive("a", 1)]), in: making)
    #expect(throws: StorageError.self) {
      try catalog.take(SharedCatalogTests.change([SharedCatalogTests.archive("a", 2)]), in: making - 1)
    }
    #expect(try catalog.archives(of: ["a"])["a"]?.current?.generation == 1)
  }

  @Test func `if transaction numbers are lower than before, everything may have changed`() throws {
    let catalog = try open()
    let place = try catalog.place()
    #expect(try catalog.changes(behind: place).images == [])
    let later = Catalog.Place(snapshot: "99999999:99999999:")
    let changes = try catalog.changes(behind: later)
    #expect(changes.images == nil && changes.place != later)
  }

  @Test func `many old changes are deleted in batches`() throws {
    let catalog = try open()
    let other = try connection()
    try other.run(
      "INSERT INTO change (id, told) SELECT 'x', now() - interval '2 hours' FROM generate_series(1, 12000)")
    try catalog.take(SharedCatalogTests.change([SharedCatalogTests.archive("a", 1)]))
    try catalog.forgetFormer()
    var left: [Int] = []
    try other.run("SELECT count(*) FROM change") { left.append($0.integer(0)) }
    #expect(left == [1])
  }
}

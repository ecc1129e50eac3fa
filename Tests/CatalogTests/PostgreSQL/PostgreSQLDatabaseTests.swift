import Foundation
import Testing
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratCatalog

/// Properties of PostgreSQL alone: many processes share one catalog, and one of them writes.
@Suite struct PostgreSQLDatabaseTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open() throws -> Catalog { try DatabaseKind.postgreSQL.catalog(in: folder) }

  private var address: String {
    get throws { try PostgreSQLServer.shared.get().schema((folder.path as NSString).lastPathComponent) }
  }

  private func ask(_ sql: String) throws {
    try Tool.check(["psql", "-q", "-v", "ON_ERROR_STOP=1", address, "-c", sql])
  }

  @Test func `one process writes and all read`() throws {
    let catalogs = [try open(), try open()]
    #expect(catalogs.map(\.isWriter) == [true, false] && catalogs.map(\.needsUpdate) == [true, false])
    try catalogs[0].update([CatalogTests.entry("a")], removing: [])
    #expect(try catalogs[1].entries(["a"]).map(\.id) == ["a"])
    #expect(throws: StorageError.self) { try catalogs[1].update([CatalogTests.entry("b")], removing: []) }
    catalogs[0].isComplete(catalogs[0].making)
    #expect(!catalogs[0].needsUpdate)
  }

  @Test func `a writer that lost its lease cannot write`() throws {
    let catalog = try open()
    try catalog.update([CatalogTests.entry("a")], removing: [])
    for number in 0..<100 {
      // Somebody else took over between two beats.
      try ask("UPDATE writer SET epoch = epoch + 1, beat = clock_timestamp() + interval '1 hour'")
      #expect(throws: StorageError.self) {
        try catalog.update([CatalogTests.entry("late \(number)")], removing: [])
      }
      guard number == 0 else { continue }
      #expect(!catalog.isWriter && !catalog.needsUpdate)
    }
    #expect(try catalog.count() == 1)
  }

  @Test func `a writer of an older schema cannot write and loses the lease`() throws {
    let catalog = try open()
    try catalog.update([CatalogTests.entry("a")], removing: [])
    try ask("UPDATE ziggurat_schema SET version = version + 1")
    #expect(throws: StorageError.self) { try catalog.update([CatalogTests.entry("b")], removing: []) }
    #expect(!catalog.isWriter)
    // It asks for it each second.
    sleep(5)
    #expect(!catalog.isWriter)
    try ask("UPDATE ziggurat_schema SET version = version - 1")
    for _ in 0..<100 where !catalog.isWriter { usleep(100_000) }
    try catalog.update([CatalogTests.entry("b")], removing: [])
    #expect(try catalog.count() == 2)
  }

  @Test func `images listed before a migration are found after it`() throws {
    let connection = try PostgreSQLConnection(address)
    for statement in PostgreSQLSchema.migrations.prefix(5).joined() { try connection.run(statement) }
    try connection.run("CREATE TABLE ziggurat_schema AS SELECT CAST(5 AS bigint) AS version")
    try connection.run(
      "INSERT INTO image (id, inode, bytes, modified, sidecar, width, height, tile_size, overlap, format, generation, item, "
        + "folder, name_key, shelf, shown, keywords, search) SELECT 'p' || n, 1, 1, 1, 0, 10, 10, 256, 0, 'jpg', 1, 'p' || n, '', "
        + "'p1' || n, 'p1' || n, 'x', '[]', 'quay' FROM generate_series(1, 3) AS n")
    #expect(throws: StorageError.self) { try Catalog(postgreSQL: address).count() }
    #expect(try Catalog.migrate(postgreSQL: address) == PostgreSQLSchema.version - 5)
    let catalog = try Catalog(postgreSQL: address)
    #expect(try catalog.search("quay", after: nil, limit: 5).entries.map(\.id) == ["p1", "p2", "p3"])
    try catalog.update([CatalogTests.entry("p2")], removing: ["p1"])
    #expect(try catalog.search("quay", after: nil, limit: 5).entries.map(\.id) == ["p3"])
  }

  @Test func `a reserved id belongs to one upload until it is released`() throws {
    let catalogs = [try open(), try open()]
    try catalogs[0].update([CatalogTests.entry("taken"), CatalogTests.entry("trip/a")], removing: [])
    #expect(
      try catalogs[1].reserve("taken", for: "1") == false && catalogs[1].reserve("trip", for: "1") == false)
    #expect(try catalogs[1].reserve("sky", for: "1") && catalogs[0].reserve("sky", for: "1"))
    #expect(try catalogs[0].reserve("sky", for: "2") == false)
    try catalogs[0].release(["2"])
    #expect(try catalogs[0].reserve("sky", for: "2") == false)
    try catalogs[0].release(["1"])
    #expect(try catalogs[0].reserve("sky", for: "2"))
  }

  @Test func `broken connections are reopened, and missing tables are reported`() throws {
    let catalog = try open()
    try catalog.update([CatalogTests.entry("a")], removing: [])
    // Its own connection, by what it asked last.
    try ask(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ziggurat' "
        + "AND pid != pg_backend_pid() AND query LIKE '%COMMIT%'")
    #expect(try catalog.count() == 1)
    try ask("DROP TABLE ziggurat_schema")
    #expect(throws: StorageError.self) { try Catalog(postgreSQL: address) }
    #expect(try Catalog.versions(postgreSQL: address).found == 0)
    #expect(throws: StorageError.self) { try Catalog(postgreSQL: "postgresql://host/x?nonsense=1") }
  }

  @Test func `an unreachable server is reported as unreachable, at once the second time`() throws {
    let catalog = try Catalog(postgreSQL: "postgresql:///x?host=\(folder.path)")
    for _ in 0..<2 {
      do throws(StorageError) {
        _ = try catalog.count()
        Issue.record("nobody is there")
      } catch { #expect(error.kind == .unreachable) }
    }
    #expect(!catalog.isReachable && !catalog.isWriter)
  }

  @Test(
    arguments: [
      ("SELECT ?", "SELECT $1"), ("(?, ?) = ?", "($1, $2) = $3"), ("?2 ?1 ?2", "$2 $1 $2"), ("none", "none"),
      ("? ?", "$1 $2"), ("?", "$1"),
    ])
  func `parameters are numbered outside of strings`(_ sql: String, _ numbered: String) {
    #expect(PostgreSQLConnection.numbered(sql) == numbered)
  }
}

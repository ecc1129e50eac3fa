import Foundation
import Testing
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratCatalog

/// Queries of servers that share a catalog: archives by their ids, and changes.
@Suite struct SharedCatalogTests {
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

  static func archive(_ id: ImageID, _ generation: UInt64 = 1) -> ArchiveRow {
    ArchiveRow(
      id: id, generation: generation, digest: String(repeating: "\(generation % 10)", count: 64),
      etag: "e-\(generation)",
      byteCount: 999, pyramid: Pyramid(imageSize: PixelSize(width: 300, height: 200)!, tileSize: 256)!,
      format: .jpeg,
      build: Array(#"{"a":"ü"}"#.utf8), metadata: Array("{}".utf8))
  }

  static func change(_ rows: [ArchiveRow], gone: [ImageID] = []) -> ArchiveChange {
    var change = ArchiveChange()
    (change.entries, change.archives, change.gone) = (rows.map { CatalogTests.entry($0.id) }, rows, gone)
    return change
  }

  @Test func `archives are found by ids with any characters`() throws {
    let catalog = try open()
    let ids: [ImageID] = [
      "a/b", "with \"quotes\" and \\", "{a,b}", "é", "NULL", "a,b", "'; --", "x\"\u{301}", "x\\\u{301}",
      "\u{600}\"", "x\u{301}",
    ]
    try catalog.take(Self.change(ids.map { Self.archive($0, .max - 3) }), parts: ["1", "2"])
    let found = try catalog.archives(of: ids + ["none"])
    #expect(Set(found.keys) == Set(ids))
    for id in ids {
      #expect(found[id]?.current == Self.archive(id, .max - 3))
      #expect(found[id]?.former.isEmpty == true)
    }
    #expect(try catalog.count() == ids.count)
    #expect(try catalog.parts() == ["1", "2"])
    try catalog.take(ArchiveChange(), parts: ["3"], isWhole: true)
    #expect(try open().parts() == ["3"])
    var seen: [ImageID: String] = [:]
    try catalog.forEachArchive { seen[$0] = $1 }
    #expect(Set(seen.keys) == Set(ids))
  }

  @Test func `a replaced archive is listed as former for a day, or until it is current again`() throws {
    let catalog = try open()
    try catalog.take(Self.change([Self.archive("a", 1), Self.archive("b", 1)]))
    try catalog.take(Self.change([Self.archive("a", 2)]))
    try catalog.take(Self.change([Self.archive("a", 3)], gone: ["b"]))
    var rows = try #require(try catalog.archives(of: ["a"])["a"])
    #expect(rows.current?.generation == 3)
    #expect(rows.former.map(\.row.generation) == [2, 1])
    #expect(rows.former.allSatisfy { (86_300...86_400).contains($0.remains) })
    #expect(try catalog.archives(of: ["b"]).isEmpty)
    try catalog.take(Self.change([Self.archive("a", 1)]))
    rows = try #require(try catalog.archives(of: ["a"])["a"])
    #expect(rows.current?.generation == 1 && Set(rows.former.map(\.row.generation)) == [2, 3])
    try connection().run("UPDATE archive SET replaced = replaced - interval '1 day' WHERE generation = 2")
    #expect(try catalog.archives(of: ["a"])["a"]?.former.map(\.row.generation) == [3])
    try catalog.forgetFormer()
    var left = 0
    try connection().run("SELECT count(*) FROM archive WHERE id = 'a'") { left = $0.integer(0) }
    #expect(left == 2)
  }

  @Test func `archives are listed by time of arrival, which edits do not change`() throws {
    let catalog = try open()
    func came(_ id: ImageID, _ generation: UInt64) throws {
      var entry = CatalogTests.entry(id)
      (entry.generation, entry.fileVersion) = (
        generation, FileVersion(inode: 1, size: 1, modified: 0, sidecar: 1)
      )
      var change = ArchiveChange()
      (change.entries, change.archives) = ([entry], [Self.archive(id, generation)])
      try catalog.take(change)
    }
    func listed() throws -> [ImageID] {
      try catalog.list(by: ListOrder(key: .added, isDescending: true), after: nil, limit: 9).entries.map(\.id)
    }
    for id in ["b", "c", "a"] as [ImageID] { try came(id, 1) }
    #expect(try listed() == ["a", "c", "b"])
    var edited = CatalogTests.entry("b")
    (edited.generation, edited.metadata.title) = (1, "new")
    edited.fileVersion = FileVersion(inode: 1, size: 1, modified: 0, sidecar: 2)
    #expect(try catalog.write(sidecar: Array("<x/>".utf8), of: edited, after: 0))
    // What is there already comes no second time.
    var again = ArchiveChange()
    (again.entries, again.archives, again.versions) = ([edited], [Self.archive("b", 1)], ["b": 1])
    try catalog.take(again)
    #expect(try listed() == ["a", "c", "b"])
    try came("c", 2)
    #expect(try listed() == ["c", "a", "b"])
    // Of what went and comes again it is when it came again.
    try catalog.take(Self.change([], gone: ["a"]))
    try came("a", 1)
    #expect(try listed() == ["a", "c", "b"])
    // What was deleted and is brought back came when it did.
    #expect(try catalog.delete(["c"], as: "1", at: 1) == ["c"])
    var back = CatalogTests.entry("c")
    (back.generation, back.fileVersion) = (2, edited.fileVersion)
    #expect(try catalog.restore([back], from: "1") == ["c"])
    #expect(try listed() == ["a", "c", "b"])
  }

  @Test func `a deleted image stays deleted until its id had another image`() throws {
    let catalog = try open()
    try catalog.take(Self.change([Self.archive("a", 1)]))
    #expect(try catalog.delete(["a"], as: "1", at: 1) == ["a"])
    try catalog.take(Self.change([Self.archive("a", 1)]))
    #expect(try catalog.archives(of: ["a"]).isEmpty && catalog.count() == 0)
    try catalog.take(Self.change([Self.archive("a", 2)]))
    #expect(try catalog.archives(of: ["a"])["a"]?.current?.generation == 2)
    try catalog.take(Self.change([Self.archive("a", 1)]))
    let rows = try catalog.archives(of: ["a"])["a"]
    #expect(rows?.current?.generation == 1 && rows?.former.map(\.row.generation) == [2])
    #expect(try catalog.count() == 1)
    // Deleted one after the other, the last counts.
    #expect(try catalog.delete(["a"], as: "2", at: 2) == ["a"])
    try catalog.take(Self.change([Self.archive("a", 3)]))
    #expect(try catalog.delete(["a"], as: "3", at: 3) == ["a"])
    var seen: [String] = []
    try catalog.forEachArchive { _, digest in seen.append(digest) }
    #expect(seen == [Self.archive("a", 3).digest])
  }

  @Test func `an edit during the import of an archive is listed with it`() throws {
    let catalog = try open()
    try catalog.take(Self.change([Self.archive("a", 1), Self.archive("b", 1)]))
    // The metadata of both are read, and then change.
    let change = Self.change([Self.archive("a", 2), Self.archive("b", 2)])
    var edited = CatalogTests.entry("a")
    (edited.generation, edited.metadata.title) = (1, "new")
    #expect(try catalog.write(sidecar: Array("<x/>".utf8), of: edited, after: 0))
    #expect(try catalog.take(change).edited == ["a"])
    let rows = try catalog.archives(of: ["a", "b"])
    #expect(rows["a"]?.current?.generation == 1 && rows["b"]?.current?.generation == 2)
    #expect(try catalog.entries(["a"]).first?.metadata.title == "new")
    var again = Self.change([Self.archive("a", 2)])
    again.versions["a"] = try catalog.sidecars(of: ["a"])["a"]?.version
    #expect(try catalog.take(again).edited.isEmpty)
    #expect(try catalog.archives(of: ["a"])["a"]?.current?.generation == 2)
  }

  @Test func `no change of long or short transactions is lost or reported twice`()
    throws
  {
    let catalog = try open()
    try catalog.take(Self.change([Self.archive("a"), Self.archive("b"), Self.archive("c")]))
    var place = try catalog.place()
    func reported() throws -> Set<ImageID>? {
      let changes = try catalog.changes(behind: place)
      place = changes.place
      return changes.images
    }
    let slow = try connection()
    try slow.run("BEGIN")
    try slow.run("UPDATE archive SET etag = 'slow' WHERE id = 'a'")
    for round in 0..<20 {
      try catalog.take(Self.change([Self.archive("b", UInt64(round) + 2)]))
      #expect(try reported() == ["b"])
    }
    #expect(try reported() == [])
    let other = try connection()
    try other.run("UPDATE archive SET etag = 'by hand' WHERE id = 'c'")
    #expect(try reported() == ["c"])
    try slow.run("COMMIT")
    #expect(try reported() == ["a"])
    #expect(try reported() == [])
    // A change that is rolled back is never reported.
    try slow.run("BEGIN")
    try slow.run("DELETE FROM archive WHERE id = 'c'")
    try slow.run("ROLLBACK")
    try catalog.take(Self.change([], gone: ["a"]))
    #expect(try reported() == ["a"])
  }

  @Test func `after very many changes, everything may have changed`() throws {
    let catalog = try open()
    let place = try catalog.place()
    let slow = try connection()
    try slow.run("BEGIN")
    try slow.run("INSERT INTO change (id) VALUES ('slow')")
    try catalog.take(Self.change([Self.archive("i3"), Self.archive("i4")]))
    try catalog.take(Self.change([Self.archive("i4", 2)], gone: ["i3"]))
    try connection().run("INSERT INTO change (id) SELECT 'i' || n FROM generate_series(1, 10001) AS n")
    let changes = try catalog.changes(behind: place)
    #expect(changes.images == nil)
    // Once, though what was open meanwhile still is.
    #expect(try catalog.changes(behind: changes.place).images == [])
    // Which of them are gone can be asked all the same, a page after the other.
    var pages: [[ImageID]] = []
    try catalog.gone(between: place, and: changes.place) { pages.append($0) }
    let gone = Set(pages.joined())
    #expect(gone.count == 10_000 && !gone.contains("i4") && gone.contains("i3"))
    #expect(pages.count == 2)
    try catalog.gone(between: changes.place, and: catalog.place()) { _ in
      Issue.record("nothing has gone since")
    }
  }

  @Test func `an image restored while the index is read is not removed again`() throws {
    let catalog = try open()
    func restore(_ generation: UInt64) throws {
      var entry = CatalogTests.entry("a")
      entry.generation = generation
      #expect(try catalog.restore([entry], from: "1-\(generation)") == ["a"])
    }
    try catalog.take(Self.change([Self.archive("a", 1), Self.archive("b", 1)]))
    #expect(try catalog.delete(["a"], as: "1-1", at: 1) == ["a"])
    try restore(1)
    // It went before, or was replaced before, says what was read; and what came of it is written down then.
    for late in [Self.change([], gone: ["a", "b"]), Self.change([Self.archive("a", 2)])] {
      try catalog.take(late)
      #expect(try catalog.archives(of: ["a"])["a"]?.current?.generation == 1)
      #expect(try catalog.list(after: nil, limit: 9).entries.map(\.id) == ["a"])
      #expect(try catalog.unannounced().map(\.id) == ["a"])
    }
    try catalog.areAnnounced(catalog.unannounced(), in: catalog.making)
    try catalog.take(Self.change([], gone: ["a"]))
    #expect(try catalog.archives(of: ["a"]).isEmpty && catalog.count() == 0)
  }

  @Test func `a new reader is notified of the removals of a day only`() throws {
    let catalog = try open()
    let now = Int(Date().timeIntervalSince1970)
    try catalog.take(Self.change(["a", "b", "c", "d", "e", "f"].map { Self.archive($0) }))
    func delete(_ id: ImageID, _ time: Int) throws {
      _ = try catalog.delete([id], as: String(time, radix: 16) + "-\(id)", at: time)
    }
    try delete("a", now - 5)
    try delete("b", now - 90_000)
    try catalog.take(Self.change([Self.archive("f", 2)], gone: ["c", "d"]))
    // It is there again, and what was to come back of it no more.
    try catalog.take(Self.change([Self.archive("d")]))
    try catalog.purgeDeleted(until: now)
    try connection().run("UPDATE archive SET replaced = now() - interval '25 hours' WHERE id = 'e'")
    var gone: [ImageID] = []
    try catalog.gone(since: now - 86_400) { gone += $0 }
    #expect(gone == ["a", "c"])
  }

  @Test func `invalid rows are no archives, and hide no other image`() throws {
    let catalog = try open()
    try catalog.take(Self.change(["a", "b", "c", "d", "e"].map { Self.archive($0) }))
    let connection = try connection()
    for change in [
      "etag = E'a\\r\\nX-Y: z' WHERE id = 'a'", "digest = '../../secret' WHERE id = 'b'",
      "width = 0 WHERE id = 'c'",
      "format = 'exe' WHERE id = 'd'",
    ] { try connection.run("UPDATE archive SET \(change)") }
    #expect(try Set(catalog.archives(of: ["e", "f"]).keys) == ["e"])
    for id: ImageID in ["a", "b", "c", "d"] {
      #expect(throws: StorageError.self) { try catalog.archives(of: ["e", id]) }
    }
  }
}

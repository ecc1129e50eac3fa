import Foundation
import Testing
import TileStorage
import ZigguratCSQLite
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratCatalog

/// Properties of SQLite alone: a file that may be damaged, old or read-only.
@Suite struct SQLiteDatabaseTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open() throws -> Catalog { try Catalog(library: folder.path) }

  private func found(_ catalog: Catalog, _ text: String) throws -> [ImageID] {
    try catalog.search(text, after: nil, limit: 1000).entries.map(\.id)
  }

  @Test(arguments: [0, 4, 999]) func `a catalog of another version is rebuilt`(_ version: Int) throws {
    let path = folder(Catalog.fileName)
    do {
      let old = try SQLiteConnection(path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
      try old.run("CREATE TABLE image (id TEXT PRIMARY KEY, search TEXT) WITHOUT ROWID")
      try old.run("INSERT INTO image VALUES ('old', 'old')")
      try old.run("PRAGMA user_version = \(version)")
    }
    let catalog = try open()
    #expect(catalog.needsUpdate && !catalog.isInMemory)
    #expect(try found(catalog, "old").isEmpty)
    try catalog.update([CatalogTests.entry("new")], removing: [])
    #expect(try found(try open(), "new") == ["new"])
  }

  @Test(arguments: [0, 100, 5000]) func `a damaged catalog is rebuilt`(_ from: Int) throws {
    let path = folder(Catalog.fileName)
    do { try open().update((0..<500).map { CatalogTests.entry("image \($0)") }, removing: []) }
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    #expect(bytes.count > 20_000)
    for at in from..<bytes.count { bytes[at] = 0xa5 }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let catalog = try open()
    // What is damaged may show itself only now.
    _ = try catalog.search("image", after: nil, limit: 10)
    try catalog.update([CatalogTests.entry("new")], removing: [])
    #expect(!catalog.isInMemory && catalog.needsUpdate)
    #expect(try found(catalog, "new") == ["new"])
  }

  @Test func `if many threads find the same damage, one rebuilds the catalog`() async throws {
    let path = folder(Catalog.fileName)
    for _ in 0..<10 {
      do { try open().update((0..<500).map { CatalogTests.entry("image \($0)") }, removing: []) }
      var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      for at in 5000..<bytes.count { bytes[at] = 0xa5 }
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let catalog = try open()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<8 {
          group.addTask {
            _ = try catalog.search("image", after: nil, limit: 10)
            try catalog.update([CatalogTests.entry("new \(number)")], removing: [])
          }
        }
        try await group.waitForAll()
      }
      // What one has written before another found the damage is read again by the next update.
      #expect(catalog.making <= 2 && catalog.needsUpdate)
    }
  }

  @Test func `writers wait for each other`() async throws {
    let catalogs = [try open(), try open()]
    await withThrowingTaskGroup(of: Void.self) { group in
      for (writer, catalog) in catalogs.enumerated() {
        group.addTask {
          for number in 0..<100 {
            try catalog.update(
              [CatalogTests.entry("\(writer) \(number)")], removing: ["\(writer) \(number - 50)"])
            _ = try catalog.search("\(writer)", after: nil, limit: 10)
          }
        }
      }
    }
    for catalog in catalogs {
      #expect(try catalog.search("0", after: nil, limit: 1).total > 0)
      for writer in 0...1 {
        let expected = (50..<100).map { "\(writer) \($0)" as ImageID }
        #expect(try catalog.entries(expected).count == 50)
      }
    }
  }

  @Test func `the catalog of a read-only folder is in memory`() throws {
    try open().update([CatalogTests.entry("image", ImageMetadata(title: "Quay"))], removing: [])
    let catalog = try Catalog(library: folder.path, isReadOnly: true)
    #expect(catalog.isInMemory)
    #expect(try found(catalog, "quay") == ["image"])
    try catalog.update([], removing: ["image"])
    #expect(try found(catalog, "quay").isEmpty)
    #expect(try found(try open(), "quay") == ["image"])
  }

  /// As long as somebody reads, SQLite keeps old pages, and says so in a row alone.
  @Test func `removed metadata are erased from the file, or an error is thrown`() throws {
    let catalog = try open()
    try catalog.update([CatalogTests.entry("image", ImageMetadata(title: "Grandmother"))], removing: [])
    func isHeld() throws -> Bool {
      try folder.files().contains { name in
        try Data(bytes(ofFile: folder(name))).range(of: Data("Grandmother".utf8)) != nil
      }
    }
    var reader: OpaquePointer?
    defer { sqlite3_close(reader) }
    #expect(sqlite3_open(folder(Catalog.fileName), &reader) == SQLITE_OK)
    #expect(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM image", nil, nil, nil) == SQLITE_OK)
    try catalog.update([], removing: ["image"])
    #expect(throws: StorageError.self) { try catalog.vacuum() }
    #expect(try isHeld())
    #expect(sqlite3_exec(reader, "COMMIT", nil, nil, nil) == SQLITE_OK)
    try catalog.vacuum()
    #expect(try !isHeld())
  }
}

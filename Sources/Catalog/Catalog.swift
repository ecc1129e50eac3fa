import Glibc
import Synchronization
import TileStorage
package import ZigguratFiles

/// The listing of a library. It answers pages, searches and books without opening archives.
///
/// All of its data is also in the archives, except the sources of the archives. Several processes can use one catalog
/// at the same time: an SQLite file in the library's folder, or tables in PostgreSQL that many servers share.
package final class Catalog: Sendable {
  package static let fileName = CatalogFile.name

  let database: any CatalogDatabase
  /// Whether the library's file was damaged and was replaced by an empty one.
  package let replacesDamaged: Bool
  /// Recent counts of listings.
  let listed = Mutex(LRUCache<CountedScope, ListedCount>(limit: 200))

  /// Opens the catalog of a library's folder, or creates one.
  /// - Parameter isReadOnly: keeps the listing in memory and leaves the folder alone.
  package init(library: String, isReadOnly: Bool = false) throws(StorageError) {
    for name in CatalogFile.names { try RootDirectory.requireOwn(name, in: library) }
    let file = try SQLiteDatabase(path: "\(library)/\(Self.fileName)", isReadOnly: isReadOnly)
    replacesDamaged = file.replacesDamaged
    database = file
  }

  /// Creates a listing in memory that never touches the disk.
  /// - Parameter name: the name of the catalog in errors.
  package init(inMemoryOf name: String) throws(StorageError) {
    database = try SQLiteDatabase(inMemoryOf: name)
    replacesDamaged = false
  }

  init(_ database: any CatalogDatabase) {
    self.database = database
    replacesDamaged = false
  }

  package static func exists(in library: String) -> Bool { access("\(library)/\(fileName)", F_OK) == 0 }

  /// Whether the listing is only in memory, since its file cannot be written.
  package var isInMemory: Bool { memoryReason != nil }

  /// The reason for a listing in memory, as a clause for the user; nil if the listing is on disk.
  package var memoryReason: String? { database.memoryReason }

  /// Whether archives may be missing, because the catalog is new or an update was interrupted.
  package var needsUpdate: Bool { database.needsUpdate }

  /// The number of times that the catalog was created. An update notes it when it begins, because the catalog may be
  /// recreated, and empty, before the update ends.
  package var making: Int { database.making }

  /// Marks the catalog as complete, after an update that has seen every archive.
  /// - Parameter making: the value of `making` when the update began.
  package func isComplete(_ making: Int) { database.isComplete(making) }

  /// Whether this process updates the catalog from the archives. Of the servers that share a catalog, only one does.
  package var isWriter: Bool { database.isWriter }

  /// Releases the right to write, so that another process can take it at once.
  package func handOver() { database.handOver() }

  /// The URL of the server that writes the catalog; empty if that is this server, or unknown.
  package var writerURL: String { database.writerURL }

  /// Whether the database is reachable, as far as is known without a query.
  package var isReachable: Bool { outage == nil }

  /// The reason why the database is unreachable, as text for the user; nil if it is reachable.
  package var outage: String? { database.outage }

  /// Returns the message of the last statement that the database refused since the last call, as for a missing right.
  package func takeRefusal() -> String? { database.takeRefusal() }

  // MARK: Reading

  /// Returns the entries of the known ids, in no particular order.
  /// - Parameter ids: at most a thousand.
  package func entries(_ ids: [ImageID]) throws(StorageError) -> [CatalogEntry] {
    precondition(ids.count <= 1000, "SQLite takes a limited number of parameters")
    let places = ids.map { _ in "?" }.joined(separator: ", ")
    return try entries("WHERE id IN (\(places))", ids.map { .text($0.text) })
  }

  /// Returns the number of archives, readable or not.
  package func count() throws(StorageError) -> Int { try count("", []) }

  /// Returns the number of archives that cannot be read.
  package func unreadableCount() throws(StorageError) -> Int { try count("WHERE width IS NULL", []) }

  /// Returns the first image whose archive cannot be read; `nil` if there is none.
  package func firstUnreadable() throws(StorageError) -> ImageID? {
    try entries("WHERE width IS NULL ORDER BY id LIMIT 1", []).first?.id
  }

  /// Returns the images that were built from a file, by id.
  /// - Parameter digest: the digest of the file's content, as in build records.
  package func entries(madeFrom digest: String) throws(StorageError) -> [CatalogEntry] {
    try entries("WHERE digest = ? ORDER BY id", [.text(digest)])
  }

  /// Calls `body` with every id (UTF-8, valid during the call) and the `FileVersion` of its archive.
  package func forEachFileVersion(_ body: (UnsafeRawBufferPointer, FileVersion) -> Void) throws(StorageError)
  {
    try read { (connection) throws(SQLError) in
      try connection.run("SELECT id, inode, bytes, modified, sidecar FROM image") { row in
        body(
          row.bytes(0),
          FileVersion(
            inode: row.integer(1), size: row.integer(2), modified: row.integer(3), sidecar: row.integer(4)))
      }
    }
  }

  func entries(_ condition: String, _ values: [SQLValue]) throws(StorageError) -> [CatalogEntry] {
    try rows("SELECT \(CatalogSchema.columns) FROM image \(condition)", values, CatalogSchema.entry)
  }

  func count(_ condition: String, _ values: [SQLValue]) throws(StorageError) -> Int {
    try integer("SELECT count(*) FROM image \(condition)", values) ?? 0
  }

  /// Returns the values that `make` reads from the rows of a query, without nils.
  func rows<Element>(
    _ sql: String, _ values: [SQLValue] = [], reading: CatalogReading = .ordinary,
    _ make: (any SQLRow) -> Element?
  ) throws(StorageError) -> [Element] {
    var found: [Element] = []
    try read(reading) { (connection) throws(SQLError) in found = try connection.rows(sql, values, make) }
    return found
  }

  /// Returns the first column of the one row of a query; nil if there is no row.
  func integer(
    _ sql: String, _ values: [SQLValue] = [], reading: CatalogReading = .ordinary
  ) throws(StorageError) -> Int? {
    try rows(sql, values, reading: reading) { $0.integer(0) }.first
  }

  // MARK: Writing

  /// Adds or replaces entries and removes others, in one transaction.
  /// - Parameter gone: the ids to remove, as in rows; they need not be valid ids.
  package func update(_ entries: [CatalogEntry], removing gone: [String]) throws(StorageError) {
    try write { (connection) throws(SQLError) in try Self.update(entries, removing: gone, connection) }
  }

  static func update(
    _ entries: [CatalogEntry], removing gone: [String], _ connection: any SQLConnection
  ) throws(SQLError) {
    var books = Set(entries.compactMap(\.book))
    for id in gone + entries.map(\.id.text) {
      try connection.run("SELECT book FROM image WHERE id = ?", [.text(id)]) {
        if let book = $0.id(0) { books.insert(book) }
      }
    }
    let gone = gone.map { [SQLValue.text($0)] }
    try connection.runEach("DELETE FROM image WHERE id = ?", gone)
    try connection.runEach("DELETE FROM origin WHERE id = ?", gone)
    try connection.runEach("DELETE FROM source WHERE id = ?", gone)
    try connection.runEach(CatalogSchema.insert, entries.map(CatalogSchema.values))
    for book in books { try Self.bind(book, connection) }
  }

  /// - Parameter making: the value of `making` when the data was read; nil for any.
  func write(
    in making: Int? = nil, _ body: (any SQLConnection) throws(SQLError) -> Void
  ) throws(StorageError) {
    try database.write(in: making, body)
  }

  func read(
    _ reading: CatalogReading = .ordinary, _ body: (any SQLConnection) throws(SQLError) -> Void
  ) throws(StorageError) {
    try database.read(reading, body)
  }

  /// Rewrites the file without the remains of deleted rows. Fails if other processes keep reading.
  package func vacuum() throws(StorageError) { try database.vacuum() }
}

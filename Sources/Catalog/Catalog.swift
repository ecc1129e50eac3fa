import Glibc
import Synchronization
import TileStorage
package import ZigguratFiles

/// A library's listing: what pages, searches and books are told from without opening archives.
///
/// It holds nothing that the archives do not hold, but from which sources they came. Several processes may use one at
/// once: a file of SQLite in the library's folder, or tables in PostgreSQL that many servers share.
package final class Catalog: Sendable {
  package static let fileName = CatalogFile.name

  let database: any CatalogDatabase
  /// Whether the library's file was damaged, and opening it put an empty one in its place.
  package let replacesDamaged: Bool
  /// The last counts of listings.
  let listed = Mutex(LeastRecentlyUsed<CountedScope, ListedCount>(limit: 200))

  /// Opens the catalog of a library's folder, or makes one.
  /// - Parameter isReadOnly: keeps the listing in memory and leaves the folder alone.
  package init(library: String, isReadOnly: Bool = false) throws(StorageError) {
    for name in CatalogFile.names { try RootDirectory.requireOwn(name, in: library) }
    let file = try SQLiteDatabase(path: "\(library)/\(Self.fileName)", isReadOnly: isReadOnly)
    replacesDamaged = file.replacesDamaged
    database = file
  }

  /// A listing that never touches the disk.
  /// - Parameter name: what errors call it.
  package init(inMemoryOf name: String) throws(StorageError) {
    database = try SQLiteDatabase(inMemoryOf: name)
    replacesDamaged = false
  }

  init(_ database: any CatalogDatabase) {
    self.database = database
    replacesDamaged = false
  }

  package static func exists(in library: String) -> Bool { access("\(library)/\(fileName)", F_OK) == 0 }

  /// Whether the listing is in memory alone, since its file cannot be written.
  package var isInMemory: Bool { memoryReason != nil }

  /// Why it is, in a clause for a person.
  package var memoryReason: String? { database.memoryReason }

  /// Whether archives may be missing in it: it is new, or an update was cut short.
  package var needsUpdate: Bool { database.needsUpdate }

  /// The number of times that the catalog was created, which an update notes when it begins: the catalog may be
  /// recreated, and empty, before it ends.
  package var making: Int { database.making }

  /// To be called when an update has seen every archive.
  /// - Parameter making: when it began.
  package func isComplete(_ making: Int) { database.isComplete(making) }

  /// Whether this process brings it to what the archives are; of many servers that share it, one does.
  package var isWriter: Bool { database.isWriter }

  /// To be called when this process writes no more: another one may at once.
  package func handOver() { database.handOver() }

  /// The URL of the server that writes the catalog; empty if that is this server, or unknown.
  package var writerURL: String { database.writerURL }

  /// Whether its database answers, as far as is known without asking.
  package var isReachable: Bool { outage == nil }

  /// Why it cannot be asked, in words; nil where it can.
  package var outage: String? { database.outage }

  /// Returns the message of the last statement that the database refused since the last call, as for a missing right.
  package func takeRefusal() -> String? { database.takeRefusal() }

  // MARK: Reading

  /// Returns the entries of those ids that are known, in no order.
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

  /// The first image whose archive cannot be read; `nil` if there is none.
  package func firstUnreadable() throws(StorageError) -> ImageID? {
    try entries("WHERE width IS NULL ORDER BY id LIMIT 1", []).first?.id
  }

  /// The images that were made from such a file, by id.
  /// - Parameter digest: of the file's content, as build records have it.
  package func entries(madeFrom digest: String) throws(StorageError) -> [CatalogEntry] {
    try entries("WHERE digest = ? ORDER BY id", [.text(digest)])
  }

  /// Gives every id (UTF-8, valid during the call) with its archive's stamp.
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

  /// Returns what `make` reads from each row of a query, without nils.
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

  /// Takes in entries and drops others, all or nothing.
  /// - Parameter gone: ids as rows have them, where they may be none.
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

  /// - Parameter making: in which what is written was found out; nil for any.
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

  /// Writes the file anew, without what rows that are gone have left in it; fails where others do not stop reading.
  package func vacuum() throws(StorageError) { try database.vacuum() }
}

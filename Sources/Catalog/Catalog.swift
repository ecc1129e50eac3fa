import CSQLite
package import Files
import Glibc
import Synchronization
import TileStorage

/// A library's listing in SQLite: what pages, searches and books are told from without opening archives.
///
/// It holds nothing that the archives do not hold, but from which sources they came. Where its file is damaged it is
/// made anew, where it cannot be written the listing lives in memory, and several processes may use one at once.
package final class Catalog: Sendable {
  package static let fileName = "catalog.sqlite"

  private let path: String
  private let keepsOffDisk: Bool
  private let connections: Mutex<CatalogConnections>
  /// All that is listed, as a connection last counted it.
  let listed = Mutex<ListedCount?>(nil)
  /// How often rows were written by this object.
  let writes = Atomic<Int>(0)
  /// How often it was made anew, and of which making all archives were seen.
  private let made = Atomic<Int>(0)
  private let completed = Atomic<Int>(-1)

  /// Opens the catalog of a library's folder, or makes one.
  /// - Parameter isReadOnly: keeps the listing in memory and leaves the folder alone.
  package init(library: String, isReadOnly: Bool = false) throws(StorageError) {
    path = "\(library)/\(Self.fileName)"
    keepsOffDisk = false
    do throws(SQLiteError) {
      connections = Mutex(
        try isReadOnly ? CatalogConnections.openMemory(startingFrom: path) : CatalogConnections.open(path))
    } catch {
      throw StorageError("open the catalog \(path)", error.message)
    }
  }

  /// A listing that never touches the disk.
  /// - Parameter name: what errors call it.
  package init(inMemoryOf name: String) throws(StorageError) {
    path = name
    keepsOffDisk = true
    do throws(SQLiteError) { connections = Mutex(try CatalogConnections.openMemory()) } catch {
      throw StorageError("open the catalog \(name)", error.message)
    }
  }

  package static func exists(in library: String) -> Bool { access("\(library)/\(fileName)", F_OK) == 0 }

  /// Whether the listing is in memory alone, since its file cannot be written.
  package var isInMemory: Bool { memoryReason != nil }

  /// Why it is, in a clause for a person.
  package var memoryReason: String? { connections.withLock { $0.memoryReason } }

  /// Whether archives may be missing in it: it is new, or an update was cut short.
  package var needsUpdate: Bool {
    completed.load(ordering: .acquiring) != made.load(ordering: .acquiring)
  }

  /// What an update remembers when it begins: the catalog may be made anew, and empty, while it goes on.
  package var making: Int { made.load(ordering: .acquiring) }

  /// To be called when an update has seen every archive.
  /// - Parameter making: when it began.
  package func isComplete(_ making: Int) { completed.store(making, ordering: .releasing) }

  // MARK: Reading

  /// Those of `ids` that are known, in no order; at most a thousand are asked for at once.
  package func entries(_ ids: [ImageID]) throws(StorageError) -> [CatalogEntry] {
    precondition(ids.count <= 1000, "SQLite takes a limited number of parameters")
    let places = ids.map { _ in "?" }.joined(separator: ", ")
    return try entries("WHERE id IN (\(places))", ids.map { .text($0.text) })
  }

  /// How many archives it knows, readable or not.
  package func count() throws(StorageError) -> Int { try count("", []) }

  /// How many archives cannot be read.
  package func unreadableCount() throws(StorageError) -> Int { try count("WHERE width IS NULL", []) }

  /// The images that were made from such a file, by id.
  /// - Parameter digest: of the file's content, as build records have it.
  package func entries(madeFrom digest: String) throws(StorageError) -> [CatalogEntry] {
    try entries("WHERE digest = ? ORDER BY id", [.text(digest)])
  }

  /// Gives every id (UTF-8, valid during the call) with its archive's stamp.
  package func forEachStamp(_ body: (UnsafeRawBufferPointer, FileStamp) -> Void) throws(StorageError) {
    try read { (connection) throws(SQLiteError) in
      try connection.run("SELECT id, inode, bytes, modified, sidecar FROM image") { row in
        body(
          row.bytes(0),
          FileStamp(
            inode: row.integer(1), size: row.integer(2), modified: row.integer(3), sidecar: row.integer(4)))
      }
    }
  }

  func entries(_ condition: String, _ values: [SQLiteValue]) throws(StorageError) -> [CatalogEntry] {
    var found: [CatalogEntry] = []
    try read { (connection) throws(SQLiteError) in
      found = []
      try connection.run("SELECT \(CatalogSchema.columns) FROM image \(condition)", values) {
        if let entry = CatalogSchema.entry($0) { found.append(entry) }
      }
    }
    return found
  }

  func count(_ condition: String, _ values: [SQLiteValue]) throws(StorageError) -> Int {
    var count = 0
    try read { (connection) throws(SQLiteError) in
      try connection.run("SELECT count(*) FROM image \(condition)", values) { count = $0.integer(0) }
    }
    return count
  }

  // MARK: Writing

  /// Takes in entries and drops others, all or nothing.
  /// - Parameter gone: ids as rows have them, where they may be none.
  package func update(_ entries: [CatalogEntry], removing gone: [String]) throws(StorageError) {
    try write { (connection) throws(SQLiteError) in
      var books = Set(entries.compactMap(\.book))
      for id in gone + entries.map(\.id.text) {
        try connection.run("SELECT book FROM image WHERE id = ?", [.text(id)]) {
          if let book = $0.id(0) { books.insert(book) }
        }
      }
      let gone = gone.map { [SQLiteValue.text($0)] }
      try connection.runEach("DELETE FROM image WHERE id = ?", gone)
      try connection.runEach("DELETE FROM origin WHERE id = ?", gone)
      try connection.runEach("DELETE FROM source WHERE id = ?", gone)
      try connection.runEach(CatalogSchema.insert, entries.map(CatalogSchema.values))
      for book in books { try Self.bind(book, connection) }
    }
  }

  /// Runs `body` in a transaction.
  func write(_ body: (SQLiteConnection) throws(SQLiteError) -> Void) throws(StorageError) {
    // Whoever counts meanwhile counts again.
    defer { writes.add(1, ordering: .releasing) }
    func write(_ connection: SQLiteConnection) throws(SQLiteError) {
      try connection.transaction { () throws(SQLiteError) in try body(connection) }
    }
    let current = connections.withLock { $0 }
    do throws(SQLiteError) { try write(current.writer) } catch {
      // A busy neighbour is waited for another time; everything else is mended by another database.
      if error.code & 0xff == SQLITE_BUSY { throw failure(error) }
      try recover(from: error)
      let fresh = connections.withLock { $0 }
      do throws(SQLiteError) { try write(fresh.writer) } catch { throw failure(error) }
    }
  }

  /// Writes the file anew, without what rows that are gone have left in it; fails where others do not stop reading.
  package func scrub() throws(StorageError) {
    let current = connections.withLock { $0 }
    do throws(SQLiteError) {
      try current.writer.run("DELETE FROM origin WHERE id NOT IN (SELECT id FROM image)")
      try current.writer.run("DELETE FROM source WHERE id NOT IN (SELECT id FROM image)")
      try CatalogSchema.optimize(current.writer)
      try current.writer.run("VACUUM")
      let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)"
      var isBusy = false
      try current.writer.run(checkpoint) { isBusy = $0.integer(0) != 0 }
      // Where others read all the while, the old pages stay in both files, and SQLite calls that no error.
      guard !isBusy else {
        throw SQLiteError(code: SQLITE_BUSY, message: "others are reading it", statement: checkpoint)
      }
    } catch { throw failure(error) }
  }

  /// Runs `body`; a damaged file is made anew and `body` run on that, where it finds nothing.
  /// - Parameter isSearch: by the connection that nobody else waits for.
  func read(
    isSearch: Bool = false, _ body: (SQLiteConnection) throws(SQLiteError) -> Void
  ) throws(StorageError) {
    let current = connections.withLock { $0 }
    do throws(SQLiteError) { try body(isSearch ? current.searcher : current.reader) } catch {
      guard error.isCorruption else { throw failure(error) }
      try recover(from: error)
      let fresh = connections.withLock { $0 }
      do throws(SQLiteError) { try body(fresh.reader) } catch { throw failure(error) }
    }
  }

  private func failure(_ error: SQLiteError) -> StorageError {
    StorageError("use the catalog \(path)", error.description)
  }

  /// Begins again with an empty database: a new file for a damaged one, else memory.
  private func recover(from error: SQLiteError) throws(StorageError) {
    made.add(1, ordering: .releasing)
    // Who begins before the empty one is there has seen the old one.
    defer { made.add(1, ordering: .releasing) }
    do throws(SQLiteError) {
      let isFile = error.isCorruption && !keepsOffDisk
      if isFile { CatalogConnections.removeFiles(path) }
      let fresh = try isFile ? CatalogConnections.open(path) : CatalogConnections.openMemory()
      connections.withLock { $0 = fresh }
    } catch { throw failure(error) }
  }
}

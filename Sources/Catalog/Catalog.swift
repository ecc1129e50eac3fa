import CSQLite
package import Files
import Glibc
import Synchronization
import TileStorage

/// A library's listing in SQLite: what pages, searches and books are told from without opening archives.
///
/// It holds nothing that the archives do not hold, but from which sources they came. Where its file is damaged it is made anew, where it
/// cannot be written the listing lives in memory, and several processes may use one at once.
package final class Catalog: Sendable {
  package static let fileName = "catalog.sqlite"

  /// Reading goes on while another process holds up the writer.
  private struct Connections {
    var reader: SQLiteConnection
    var writer: SQLiteConnection
    /// Of its own: a search takes longer than anything else and must hold up nobody.
    var searcher: SQLiteConnection
    var isInMemory: Bool
  }

  private let path: String
  private let keepsOffDisk: Bool
  private let connections: Mutex<Connections>
  /// How often it was made anew, and of which making all archives were seen.
  private let made = Atomic<Int>(0)
  private let completed = Atomic<Int>(-1)

  /// Opens the catalog of a library's folder, or makes one.
  /// - Parameter isReadOnly: keeps the listing in memory and leaves the folder alone.
  package init(library: String, isReadOnly: Bool = false) throws(StorageError) {
    path = "\(library)/\(Self.fileName)"
    keepsOffDisk = false
    do throws(SQLiteError) {
      connections = Mutex(try isReadOnly ? Self.openMemory(startingFrom: path) : Self.open(path))
    } catch {
      throw StorageError("open the catalog \(path)", error.message)
    }
  }

  /// A listing that never touches the disk.
  /// - Parameter name: what errors call it.
  package init(inMemoryOf name: String) throws(StorageError) {
    path = name
    keepsOffDisk = true
    do throws(SQLiteError) { connections = Mutex(try Self.openMemory()) } catch {
      throw StorageError("open the catalog \(name)", error.message)
    }
  }

  package static func exists(in library: String) -> Bool { access("\(library)/\(fileName)", F_OK) == 0 }

  /// Whether the listing is in memory alone, since its file cannot be written.
  package var isInMemory: Bool { connections.withLock { $0.isInMemory } }

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
  package func entries(_ ids: [String]) throws(StorageError) -> [CatalogEntry] {
    precondition(ids.count <= 1000, "SQLite takes a limited number of parameters")
    let places = ids.map { _ in "?" }.joined(separator: ", ")
    return try entries("WHERE id IN (\(places))", ids.map { .text($0) })
  }

  /// How many archives cannot be read.
  package func unreadableCount() throws(StorageError) -> Int { try count("WHERE width IS NULL", []) }

  /// The pages of a book in order.
  package func pages(ofBook id: String) throws(StorageError) -> [CatalogEntry] {
    try entries("WHERE book = ? AND width IS NOT NULL ORDER BY page", [.text(id)])
  }

  package func pageCount(ofBook id: String) throws(StorageError) -> Int {
    try count("WHERE book = ? AND width IS NOT NULL", [.text(id)])
  }

  /// The images that were made from such a file, by id.
  /// - Parameter digest: of the file's content, as build records have it.
  package func entries(madeFrom digest: String) throws(StorageError) -> [CatalogEntry] {
    try entries("WHERE digest = ? ORDER BY id", [.text(digest)])
  }

  /// A single image or a book, as a collection lists it.
  package struct Item: Hashable, Sendable {
    package var id: String
    /// Of the image, or of all of a book's pages.
    package let title: String?
    package let images: Int
  }

  /// Images and books by id, a book once for all its pages.
  package func items(from first: Int, limit: Int) throws(StorageError) -> [Item] {
    var found: [Item] = []
    try read { (connection) throws(SQLiteError) in
      found = []
      try connection.run(
        "SELECT item, CASE WHEN count(title) = count(*) AND min(title) = max(title) THEN min(title) END, count(*) "
          + "FROM image WHERE width IS NOT NULL GROUP BY item ORDER BY item LIMIT ? OFFSET ?",
        [.integer(limit), .integer(first)]
      ) { found.append(Item(id: $0.text(0) ?? "", title: $0.text(1), images: $0.integer(2))) }
    }
    return found
  }

  package func itemCount() throws(StorageError) -> Int {
    var count = 0
    try read { (connection) throws(SQLiteError) in
      try connection.run("SELECT count(DISTINCT item) FROM image WHERE width IS NOT NULL") {
        count = $0.integer(0)
      }
    }
    return count
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
        found.append(CatalogSchema.entry($0))
      }
    }
    return found
  }

  private func count(_ condition: String, _ values: [SQLiteValue]) throws(StorageError) -> Int {
    var count = 0
    try read { (connection) throws(SQLiteError) in
      try connection.run("SELECT count(*) FROM image \(condition)", values) { count = $0.integer(0) }
    }
    return count
  }

  // MARK: Writing

  /// Takes in entries and drops ids, all or nothing.
  package func update(_ entries: [CatalogEntry], removing ids: [String]) throws(StorageError) {
    try write { (connection) throws(SQLiteError) in
      let gone = ids.map { [SQLiteValue.text($0)] }
      try connection.runEach("DELETE FROM image WHERE id = ?", gone)
      try connection.runEach("DELETE FROM origin WHERE id = ?", gone)
      try connection.runEach(CatalogSchema.insert, entries.map(CatalogSchema.values))
    }
  }

  /// Runs `body` in a transaction.
  func write(_ body: (SQLiteConnection) throws(SQLiteError) -> Void) throws(StorageError) {
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

  /// Writes the file anew, without what rows that are gone have left in it.
  package func scrub() throws(StorageError) {
    let current = connections.withLock { $0 }
    do throws(SQLiteError) {
      try current.writer.run("DELETE FROM origin WHERE id NOT IN (SELECT id FROM image)")
      try CatalogSchema.optimize(current.writer)
      try current.writer.run("VACUUM")
      try current.writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
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
      if isFile { Self.removeFiles(path) }
      let fresh = try isFile ? Self.open(path) : Self.openMemory()
      connections.withLock { $0 = fresh }
    } catch { throw failure(error) }
  }

  // MARK: Opening

  private static func open(_ path: String) throws(SQLiteError) -> Connections {
    do throws(SQLiteError) {
      return try openFile(path)
    } catch {
      if error.isCorruption {
        removeFiles(path)
        if let connections = try? openFile(path) { return connections }
      }
      // A read-only folder, a full disk, a file system without locks.
      return try openMemory(startingFrom: error.isCorruption ? nil : path)
    }
  }

  private static func openFile(_ path: String) throws(SQLiteError) -> Connections {
    let writer = try SQLiteConnection(path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    try writer.run("PRAGMA journal_mode = WAL")
    // Losing the last moments to a power cut costs reading those archives again.
    try writer.run("PRAGMA synchronous = NORMAL")
    try prepare(writer)
    let reader = try SQLiteConnection(path, flags: SQLITE_OPEN_READWRITE)
    try reader.run("SELECT id FROM image LIMIT 1")
    let searcher = try SQLiteConnection(path, flags: SQLITE_OPEN_READWRITE)
    return Connections(reader: reader, writer: writer, searcher: searcher, isInMemory: false)
  }

  private static let memoryNumber = Atomic<Int>(0)

  /// - Parameter path: a catalog whose rows are taken over where it can be read.
  private static func openMemory(startingFrom path: String? = nil) throws(SQLiteError) -> Connections {
    let number = memoryNumber.wrappingAdd(1, ordering: .relaxed).newValue
    let name = "file:ziggurat-catalog-\(number)?mode=memory"
    let connection = try SQLiteConnection(name, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    // Large sorts would go through files else.
    try connection.run("PRAGMA temp_store = MEMORY")
    try prepare(connection)
    if let path {
      // Immutable: a file in a read-only folder could not be locked. What is stale in it is noticed by the
      // archives' stamps.
      try? connection.run("ATTACH ? AS old", [.text("file:\(escaped(path))?mode=ro&immutable=1")])
      var version = 0
      try? connection.run("PRAGMA old.user_version") { version = $0.integer(0) }
      if version == CatalogSchema.version { try? connection.run(CatalogSchema.takeOver) }
      try? connection.run(CatalogSchema.takeOverOrigins)
      try? connection.run("DETACH old")
    }
    return Connections(reader: connection, writer: connection, searcher: connection, isInMemory: true)
  }

  /// For a `file:` URI: what would end its path is percent-encoded.
  private static func escaped(_ path: String) -> String {
    path.replacing("%", with: "%25").replacing("?", with: "%3f").replacing("#", with: "%23")
  }

  /// Makes the tables where there are none of this version.
  private static func prepare(_ connection: SQLiteConnection) throws(SQLiteError) {
    try connection.transaction { () throws(SQLiteError) in
      for statement in CatalogSchema.origin { try connection.run(statement) }
      var version = 0
      try connection.run("PRAGMA user_version") { version = $0.integer(0) }
      guard version != CatalogSchema.version else { return }
      for statement in CatalogSchema.drop + CatalogSchema.create { try connection.run(statement) }
      try connection.run("PRAGMA user_version = \(CatalogSchema.version)")
    }
  }

  private static func removeFiles(_ path: String) {
    for ending in ["", "-wal", "-shm"] { unlink(path + ending) }
  }
}

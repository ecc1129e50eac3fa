import Glibc
import Synchronization
import ZigguratCSQLite
import ZigguratConcurrency
import ZigguratFiles

/// A catalog's tables in SQLite. A damaged file is recreated. If the file cannot be written, the tables are in memory.
/// Several processes can use one file at the same time.
final class SQLiteDatabase: CatalogDatabase {
  private let path: String
  private let keepsOffDisk: Bool
  private let connections: Mutex<SQLiteConnections>
  /// A lock that is held while another database replaces the current one.
  private let recovering = Mutex<Void>(())
  /// The number of times that the database was recreated, and the number at which all archives were seen.
  private let made = Atomic<Int>(0)
  private let completed = Atomic<Int>(-1)
  /// Orders that have an index, or will have one soon.
  private let indexed = Mutex<Set<ListOrder>>([])

  /// Opens the file, or creates one.
  /// - Parameter isReadOnly: keeps the tables in memory and leaves the file alone.
  init(path: String, isReadOnly: Bool) throws(StorageError) {
    self.path = path
    keepsOffDisk = false
    do throws(SQLError) {
      connections = Mutex(
        try isReadOnly ? SQLiteConnections.openMemory(startingFrom: path) : SQLiteConnections.open(path))
    } catch {
      throw StorageError("open the catalog \(path)", error.message)
    }
  }

  /// Creates tables in memory that never touch the disk.
  init(inMemoryOf name: String) throws(StorageError) {
    path = name
    keepsOffDisk = true
    do throws(SQLError) { connections = Mutex(try SQLiteConnections.openMemory()) } catch {
      throw StorageError("open the catalog \(name)", error.message)
    }
  }

  var memoryReason: String? { connections.withLock { $0.memoryReason } }

  var replacesDamaged: Bool { connections.withLock { $0.replacesDamaged } }

  var needsUpdate: Bool { completed.load(ordering: .acquiring) != made.load(ordering: .acquiring) }

  var making: Int { made.load(ordering: .acquiring) }

  func isComplete(_ making: Int) { completed.store(making, ordering: .releasing) }

  var isWriter: Bool { true }

  func handOver() {}

  var writerURL: String { "" }

  var outage: String? { nil }

  func takeRefusal() -> String? { nil }

  /// Ignores `making`: a caller that finds a recreated database updates it, whatever was written into it before.
  func write(
    in making: Int?, _ body: (any SQLConnection) throws(SQLError) -> Void
  ) throws(StorageError) {
    func write(_ connection: SQLiteConnection) throws(SQLError) {
      try connection.transaction { () throws(SQLError) in try body(connection) }
    }
    let current = connections.withLock { $0 }
    do throws(SQLError) { try write(current.writer) } catch {
      // A busy database is tried again later. After any other error, another database replaces it.
      if error.kind == .busy { throw failure(error) }
      try recover(from: error, of: current)
      let fresh = connections.withLock { $0 }
      do throws(SQLError) { try write(fresh.writer) } catch { throw failure(error) }
    }
  }

  /// Creates an index for an order in use, but only in a file. Each index slows down writes, and most libraries are
  /// listed by name. Other writers wait for the seconds that an index of millions of rows takes.
  func isListed(by order: ListOrder) {
    guard memoryReason == nil, indexed.withLock({ $0.insert(order).inserted }) else { return }
    let isStarted = StartedThread.detached { [self, path] in
      do throws(SQLError) {
        // Not the connection of the writer, for which every other thread would wait.
        let connection = try SQLiteConnection(path, flags: SQLITE_OPEN_READWRITE)
        try connection.run("CREATE INDEX IF NOT EXISTS \(order.index)")
      } catch {
        // On a full disk there is no other attempt: each takes seconds, and would fill the disk again.
        if error.kind == .busy { indexed.withLock { _ = $0.remove(order) } }
      }
    }
    if !isStarted { indexed.withLock { _ = $0.remove(order) } }
  }

  func vacuum() throws(StorageError) {
    let current = connections.withLock { $0 }
    do throws(SQLError) {
      try current.writer.alone { () throws(SQLError) in try vacuum(current.writer) }
    } catch {
      throw failure(error)
    }
  }

  private func vacuum(_ writer: SQLiteConnection) throws(SQLError) {
    try writer.run("DELETE FROM origin WHERE id NOT IN (SELECT id FROM image)")
    try writer.run("DELETE FROM source WHERE id NOT IN (SELECT id FROM image)")
    try writer.run("DELETE FROM book WHERE id NOT IN (SELECT item FROM image WHERE pages IS NOT NULL)")
    try writer.run("DELETE FROM book_origin WHERE id NOT IN (SELECT book FROM image WHERE book IS NOT NULL)")
    try SQLiteSchema.optimize(writer)
    try writer.run("VACUUM")
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)"
    // If other processes keep reading, the old pages stay in both files, and SQLite reports no error.
    guard try writer.integer(checkpoint) == 0 else {
      throw SQLError(
        kind: .busy, code: "SQLite error \(SQLITE_BUSY)", message: "others are reading it",
        statement: checkpoint)
    }
  }

  /// Runs `body`. A damaged file is recreated, and `body` runs again on the empty one.
  /// - Parameter reading: a search uses a connection that no other query waits for.
  func read(
    _ reading: CatalogReading, _ body: (any SQLConnection) throws(SQLError) -> Void
  ) throws(StorageError) {
    let current = connections.withLock { $0 }
    do throws(SQLError) { try body(reading == .search ? current.searcher : current.reader) } catch {
      guard error.kind == .damaged else { throw failure(error) }
      try recover(from: error, of: current)
      let fresh = connections.withLock { $0 }
      do throws(SQLError) { try body(fresh.reader) } catch { throw failure(error) }
    }
  }

  private func failure(_ error: SQLError) -> StorageError {
    // The system's error number of a full disk, as for other files.
    let isFull = error.code.hasSuffix(" \(SQLITE_FULL)")
    return StorageError("use the catalog \(path)", error.description, code: isFull ? ENOSPC : 0)
  }

  /// Starts again with an empty database: a new file if the file is damaged, else memory. If several threads find the
  /// same damage, the first one replaces the database.
  private func recover(from error: SQLError, of broken: SQLiteConnections) throws(StorageError) {
    try recovering.withLock { (_) throws(StorageError) in
      guard connections.withLock({ $0.writer === broken.writer }) else { return }
      made.add(1, ordering: .releasing)
      // An update that began before the empty database existed has seen the old one.
      defer { made.add(1, ordering: .releasing) }
      do throws(SQLError) {
        let isFile = error.kind == .damaged && !keepsOffDisk
        if isFile {
          for each in [broken.reader, broken.writer, broken.searcher] { each.leaveFiles() }
          SQLiteConnections.removeFiles(path)
        }
        let fresh = try isFile ? SQLiteConnections.open(path) : SQLiteConnections.openMemory()
        connections.withLock { $0 = fresh }
        indexed.withLock { $0 = [] }
      } catch { throw failure(error) }
    }
  }
}

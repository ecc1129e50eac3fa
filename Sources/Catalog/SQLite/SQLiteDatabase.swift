import Glibc
import Synchronization
import ZigguratCSQLite
import ZigguratConcurrency
import ZigguratFiles

/// A catalog's tables in SQLite. Where the file is damaged it is made anew, where it cannot be written the tables live in
/// memory, and several processes may use one at once.
final class SQLiteDatabase: CatalogDatabase {
  private let path: String
  private let keepsOffDisk: Bool
  private let connections: Mutex<SQLiteConnections>
  /// Held by who begins again with another database.
  private let recovering = Mutex<Void>(())
  /// The number of times that it was recreated, and the one of them in which all archives were seen.
  private let made = Atomic<Int>(0)
  private let completed = Atomic<Int>(-1)
  /// Orders that have an index, or will soon.
  private let indexed = Mutex<Set<ListOrder>>([])

  /// Opens the file, or makes one.
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

  /// Tables that never touch the disk.
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

  /// Each that was made anew is brought up to date by whoever finds it so, whatever was written into it before.
  func write(
    in making: Int?, _ body: (any SQLConnection) throws(SQLError) -> Void
  ) throws(StorageError) {
    func write(_ connection: SQLiteConnection) throws(SQLError) {
      try connection.transaction { () throws(SQLError) in try body(connection) }
    }
    let current = connections.withLock { $0 }
    do throws(SQLError) { try write(current.writer) } catch {
      // A busy neighbour is waited for another time; everything else is mended by another database.
      if error.kind == .busy { throw failure(error) }
      try recover(from: error, of: current)
      let fresh = connections.withLock { $0 }
      do throws(SQLError) { try write(fresh.writer) } catch { throw failure(error) }
    }
  }

  /// An index for each order that somebody uses, of the file alone: each makes what is written take longer, and most
  /// libraries are seen by name. Others wait to write for the seconds that one takes to make of millions.
  func isListed(by order: ListOrder) {
    guard memoryReason == nil, indexed.withLock({ $0.insert(order).inserted }) else { return }
    let isStarted = StartedThread.detached { [self, path] in
      do throws(SQLError) {
        // Not by the writer's connection, of which everybody would wait.
        let connection = try SQLiteConnection(path, flags: SQLITE_OPEN_READWRITE)
        try connection.run("CREATE INDEX IF NOT EXISTS \(order.index)")
      } catch {
        // On a full disk no other try is made: each takes seconds, and would fill it anew.
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
    // Where others read all the while, the old pages stay in both files, and SQLite calls that no error.
    guard try writer.integer(checkpoint) == 0 else {
      throw SQLError(
        kind: .busy, code: "SQLite error \(SQLITE_BUSY)", message: "others are reading it",
        statement: checkpoint)
    }
  }

  /// A damaged file is made anew and `body` run on that, where it finds nothing.
  /// - Parameter reading: a search goes by the connection that nobody else waits for.
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
    // The system's number of a full disk, as other files have it.
    let isFull = error.code.hasSuffix(" \(SQLITE_FULL)")
    return StorageError("use the catalog \(path)", error.description, code: isFull ? ENOSPC : 0)
  }

  /// Begins again with an empty database: a new file for a damaged one, else memory. Of several who find the same
  /// damage the first does.
  private func recover(from error: SQLError, of broken: SQLiteConnections) throws(StorageError) {
    try recovering.withLock { (_) throws(StorageError) in
      guard connections.withLock({ $0.writer === broken.writer }) else { return }
      made.add(1, ordering: .releasing)
      // Who begins before the empty one is there has seen the old one.
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

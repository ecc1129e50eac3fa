import Glibc
import Synchronization
import ZigguratConcurrency
package import ZigguratFiles

/// A catalog's tables in PostgreSQL, shared by any number of servers. One of them writes.
final class PostgreSQLDatabase: CatalogDatabase {
  private let pool: PostgreSQLConnectionPool
  private let lease: WriterLease
  private let library: String?
  /// The epoch in which this process has seen every archive.
  private let completed = Atomic<Int>(-1)
  private let isChecked = Atomic<Bool>(false)
  /// The reason why this program cannot use the tables; nil if it can.
  private let misfit = Mutex<String?>(nil)
  /// A lock for writing. A writer sees the changes of the previous one, and no transaction waits for another in the
  /// database.
  private let writing = Mutex<Void>(())

  /// Opens existing tables. If the database is unreachable, the connection is tried again later. Tables of another
  /// version are reported at once.
  /// - Parameters:
  ///   - library: the library that the catalog must belong to; nil for any.
  ///   - ownURL: the URL at which visitors of other servers reach this one; empty if there is none.
  init(_ address: String, library: String? = nil, ownURL: String = "") throws(StorageError) {
    self.library = library
    do throws(SQLError) { pool = try PostgreSQLConnectionPool(address) } catch {
      throw StorageError("open the catalog", error.message)
    }
    lease = WriterLease(pool, address: ownURL, library: library)
    do throws(SQLError) { try pool.use(checked) } catch {
      // Another version, another library or a wrong password.
      guard Self.isPassing(error) else { throw Self.failure(error, pool.name, .unreadable) }
    }
    lease.beat()
    StartedThread.needed { [weak self] in
      // The thread runs as long as the catalog is in use.
      while self?.goesOn() == true { sleep(1) }
    }
  }

  deinit { lease.release() }

  private func goesOn() -> Bool {
    lease.beat()
    // The check also runs without requests, so that a mismatch is reported.
    if !isChecked.load(ordering: .relaxed) { try? pool.use(checked) }
    return true
  }

  var memoryReason: String? { nil }

  var isWriter: Bool { lease.epoch != nil }

  func handOver() { lease.release() }

  var writerURL: String { lease.writer }

  var outage: String? { pool.outage ?? misfit.withLock { $0 } }

  var needsUpdate: Bool { lease.epoch.map { $0 != completed.load(ordering: .acquiring) } ?? false }

  var making: Int { lease.epoch ?? -2 }

  func isComplete(_ making: Int) { completed.store(making, ordering: .releasing) }

  func takeRefusal() -> String? { pool.takeRefusal() }

  func read(
    _ reading: CatalogReading, _ body: (any SQLConnection) throws(SQLError) -> Void
  ) throws(StorageError) {
    let timeout =
      reading == .row ? PostgreSQLConnection.shortTimeout : PostgreSQLConnection.longTimeout
    try asked { () throws(SQLError) in
      try pool.use(timeout: timeout) { (connection) throws(SQLError) in
        try checked(connection)
        try body(connection)
      }
    }
  }

  func write(
    in making: Int?, _ body: (any SQLConnection) throws(SQLError) -> Void
  ) throws(StorageError) {
    guard let epoch = lease.epoch, making == nil || making == epoch else {
      throw StorageError("write the catalog \(pool.name)", Self.notOurs, kind: .unreachable)
    }
    try writing.withLock { (_) throws(StorageError) in
      try asked { () throws(SQLError) in
        try pool.use { (connection) throws(SQLError) in try write(epoch, connection, body) }
      }
    }
  }

  private func write(
    _ epoch: Int, _ connection: PostgreSQLConnection, _ body: (any SQLConnection) throws(SQLError) -> Void
  ) throws(SQLError) {
    try checked(connection)
    try connection.transaction { () throws(SQLError) in
      try prove(epoch, connection)
      try body(connection)
      try connection.run("UPDATE writer SET changes = changes + 1 WHERE epoch = ?", [.integer(epoch)])
    }
  }

  private static let notOurs = "another server writes it"

  /// Fails if another process has become the writer. None can become the writer before the transaction ends.
  private func prove(_ epoch: Int, _ connection: PostgreSQLConnection) throws(SQLError) {
    let statement = "SELECT epoch FROM writer WHERE epoch = ? AND \(PostgreSQLSchema.isOurs) FOR KEY SHARE"
    guard try connection.integer(statement, [.integer(epoch)]) == nil else { return }
    lease.isLost(epoch)
    throw SQLError(kind: .busy, code: "epoch \(epoch)", message: Self.notOurs, statement: statement)
  }

  /// Does nothing, because each order has an index from the start.
  func isListed(by order: ListOrder) {}

  /// Runs a vacuum, which PostgreSQL would also run by itself.
  func vacuum() throws(StorageError) {
    try asked { () throws(SQLError) in
      try pool.use { (connection) throws(SQLError) in
        try connection.run("VACUUM image, searched, book")
      }
    }
  }

  /// Checks once whether the tables have this program's version and belong to the library.
  private func checked(_ connection: PostgreSQLConnection) throws(SQLError) {
    guard !isChecked.load(ordering: .relaxed) else { return }
    do throws(SQLError) { try check(connection) } catch {
      if !Self.isPassing(error) { misfit.withLock { [error] in $0 = error.message } }
      throw error
    }
    misfit.withLock { $0 = nil }
  }

  private func check(_ connection: PostgreSQLConnection) throws(SQLError) {
    let version = try PostgreSQLSchema.version(of: connection)
    guard version == PostgreSQLSchema.version else {
      throw SQLError(
        kind: .refused, code: "version \(version)", message: Self.advice(version),
        statement: "open its tables")
    }
    guard let library else { return isChecked.store(true, ordering: .relaxed) }
    guard let found = try connection.rows("SELECT library FROM writer", [], { $0.text(0) }).first else {
      return
    }
    guard found == library else {
      throw SQLError(
        kind: .refused, code: "version \(version)",
        message:
          "it is the catalog of \(found), not of \(library); each library needs a database or schema of its own",
        statement: "open its tables")
    }
    isChecked.store(true, ordering: .relaxed)
  }

  private static func advice(_ version: Int) -> String {
    if version > PostgreSQLSchema.version { return "its tables are a newer ziggurat's" }
    return version == 0
      ? "it has no tables; 'ziggurat catalog migrate' makes them"
      : "its tables are an older ziggurat's; 'ziggurat catalog migrate' changes them"
  }

  private func asked(_ body: () throws(SQLError) -> Void) throws(StorageError) {
    do throws(SQLError) { try body() } catch {
      // The tables may have been changed or removed.
      if error.kind == .refused { isChecked.store(false, ordering: .relaxed) }
      throw Self.failure(error, pool.name)
    }
  }

  private static func failure(
    _ error: SQLError, _ name: String, _ kind: StorageError.Kind? = nil
  ) -> StorageError {
    let hasOwnMessage = error.code.hasPrefix("version ") || error.statement == "connect"
    return StorageError(
      "use the catalog \(name)", hasOwnMessage ? error.message : error.description,
      // A refusal after the start is temporary: an administrator can correct it while the server runs.
      kind: kind ?? (isPassing(error) || error.kind == .refused ? .unreachable : .unreadable))
  }

  private static func isPassing(_ error: SQLError) -> Bool { error.kind == .away || error.kind == .busy }
}

/// Functions for commands that create or migrate the tables.
extension Catalog {
  /// Whether a text is an address of tables in PostgreSQL, valid or not.
  package static func isPostgreSQL(_ text: String) -> Bool {
    ["postgresql://", "postgres://"].contains(where: text.hasPrefix)
  }

  /// Opens tables in PostgreSQL that servers share and that `migrate` has created.
  /// - Parameters:
  ///   - address: `postgresql://USER@HOST/DATABASE`.
  ///   - library: the name of the library, the same on all of its servers. A catalog of another library is refused. Nil
  ///     for any.
  ///   - ownURL: the URL at which this server accepts changes while it is the writer; empty if there is none.
  package convenience init(
    postgreSQL address: String, library: String? = nil, ownURL: String = ""
  ) throws(StorageError) {
    self.init(try PostgreSQLDatabase(address, library: library, ownURL: ownURL))
  }

  /// Returns the version of the tables, 0 if there are none, and the version that this program needs.
  package static func versions(postgreSQL address: String) throws(StorageError) -> (found: Int, needed: Int) {
    var version = 0
    try use(address) { (connection) throws(SQLError) in version = try PostgreSQLSchema.version(of: connection)
    }
    return (version, PostgreSQLSchema.version)
  }

  /// Creates the tables, or migrates them from an older version.
  /// - Returns: the number of migrations.
  package static func migrate(postgreSQL address: String) throws(StorageError) -> Int {
    var count = 0
    try use(address) { (connection) throws(SQLError) in count = try PostgreSQLSchema.migrate(connection) }
    return count
  }

  private static func use(
    _ address: String, _ body: (PostgreSQLConnection) throws(SQLError) -> Void
  ) throws(StorageError) {
    do throws(SQLError) {
      let connection = try PostgreSQLConnection(address)
      // A migration has no timeout, since the user sees that it is running.
      connection.timeout = nil
      try body(connection)
    } catch {
      throw StorageError(
        "open the catalog", error.statement == "connect" ? error.message : error.description,
        kind: error.kind == .away ? .unreachable : .unreadable)
    }
  }
}

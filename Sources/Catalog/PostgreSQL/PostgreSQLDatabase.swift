import Glibc
import Synchronization
import ZigguratConcurrency
package import ZigguratFiles

/// A catalog's tables in PostgreSQL, for any number of servers, of which one writes.
final class PostgreSQLDatabase: CatalogDatabase {
  private let pool: PostgreSQLPool
  private let lease: WriterLease
  private let library: String?
  /// The epoch in which this process has seen every archive.
  private let completed = Atomic<Int>(-1)
  private let isChecked = Atomic<Bool>(false)
  /// The reason why this program cannot use the tables; nil if it can.
  private let misfit = Mutex<String?>(nil)
  /// Held by who writes: each finds what the one before has left, and none waits for another in the database.
  private let writing = Mutex<Void>(())

  /// Opens tables that are there. Where the database cannot be reached now it is asked again later; where its tables are
  /// another version's that is told now.
  /// - Parameters:
  ///   - library: of which it is to be; nil for whatever it is of.
  ///   - ownURL: where other servers' visitors reach this one; empty for nowhere.
  init(_ address: String, library: String? = nil, ownURL: String = "") throws(StorageError) {
    self.library = library
    do throws(SQLError) { pool = try PostgreSQLPool(address) } catch {
      throw StorageError("open the catalog", error.message)
    }
    lease = WriterLease(pool, address: ownURL, library: library)
    do throws(SQLError) { try pool.use(checked) } catch {
      // Of another version, of another library, with a wrong password.
      guard Self.isPassing(error) else { throw Self.failure(error, pool.name, .unreadable) }
    }
    lease.beat()
    StartedThread.needed { [weak self] in
      // As long as anybody has the catalog.
      while self?.goesOn() == true { sleep(1) }
    }
  }

  deinit { lease.release() }

  private func goesOn() -> Bool {
    lease.beat()
    // Where nobody asks for anything it is told all the same.
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

  /// Fails where somebody else has taken over; nobody does before the transaction ends.
  private func prove(_ epoch: Int, _ connection: PostgreSQLConnection) throws(SQLError) {
    let statement = "SELECT epoch FROM writer WHERE epoch = ? AND \(PostgreSQLSchema.isOurs) FOR KEY SHARE"
    guard try connection.integer(statement, [.integer(epoch)]) == nil else { return }
    lease.isLost(epoch)
    throw SQLError(kind: .busy, code: "epoch \(epoch)", message: Self.notOurs, statement: statement)
  }

  /// Each has its index from the start.
  func isListed(by order: ListOrder) {}

  /// PostgreSQL's vacuum does it, by itself.
  func vacuum() throws(StorageError) {
    try asked { () throws(SQLError) in
      try pool.use { (connection) throws(SQLError) in
        try connection.run("VACUUM image, searched, book")
      }
    }
  }

  /// Whether the tables are this program's and of its library, once.
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
      // The tables may be others by now, or gone.
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
      // What it refuses any more, once it did not or was not there, somebody makes it allow again.
      kind: kind ?? (isPassing(error) || error.kind == .refused ? .unreachable : .unreadable))
  }

  private static func isPassing(_ error: SQLError) -> Bool { error.kind == .away || error.kind == .busy }
}

/// Functions for commands that create or migrate the tables.
extension Catalog {
  /// Whether a text means tables in PostgreSQL, be it a sound address or not.
  package static func isPostgreSQL(_ text: String) -> Bool {
    ["postgresql://", "postgres://"].contains(where: text.hasPrefix)
  }

  /// Tables in PostgreSQL that servers share; `migrate` has made them.
  /// - Parameters:
  ///   - address: `postgresql://USER@HOST/DATABASE`.
  ///   - library: what calls the library, the same for all servers of it; a catalog that is another's is refused. Nil for
  ///     whatever it is of.
  ///   - ownURL: where this server is sent what is to be written, while it is the one that writes; empty for nowhere.
  package convenience init(
    postgreSQL address: String, library: String? = nil, ownURL: String = ""
  ) throws(StorageError) {
    self.init(try PostgreSQLDatabase(address, library: library, ownURL: ownURL))
  }

  /// The version of the tables there, 0 for none, and of those that this program needs.
  package static func versions(postgreSQL address: String) throws(StorageError) -> (found: Int, needed: Int) {
    var version = 0
    try use(address) { (connection) throws(SQLError) in version = try PostgreSQLSchema.version(of: connection)
    }
    return (version, PostgreSQLSchema.version)
  }

  /// Makes the tables, or brings those of an older version to this program's.
  /// - Returns: how many changes were made.
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
      // Whoever waits for a migration sees that it goes on.
      connection.timeout = nil
      try body(connection)
    } catch {
      throw StorageError(
        "open the catalog", error.statement == "connect" ? error.message : error.description,
        kind: error.kind == .away ? .unreachable : .unreadable)
    }
  }
}

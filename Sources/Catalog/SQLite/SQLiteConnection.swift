import Synchronization
import ZigguratCSQLite

/// One open database. Every statement is prepared, run and finalized in one call.
// SQLite locks the connection itself in its serialized mode.
final class SQLiteConnection: SQLConnection, @unchecked Sendable {
  private let handle: OpaquePointer
  /// A lock that the thread with a transaction holds. Statements of other threads would become part of the transaction.
  private let writing = Mutex<Void>(())
  /// The list at the last search that read far along it.
  let listed = Mutex<ListedNumbers?>(nil)
  /// Whether a search had so many matches that they were not counted.
  let hasMany = Atomic(false)

  /// - Parameter name: a path, or a `file:` URI.
  init(_ name: String, flags: Int32) throws(SQLError) {
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(
      name, &handle, flags | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE, nil)
    guard code == SQLITE_OK, let handle else {
      let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close_v2(handle)
      throw SQLError(code, message, "open \(name)")
    }
    self.handle = handle
    // Another process may be writing.
    sqlite3_busy_timeout(handle, 5000)
  }

  deinit { sqlite3_close_v2(handle) }

  /// Keeps the log file when the connection is closed. Must be called before another file gets the name, because
  /// closing would remove the log of that file.
  func leaveFiles() {
    var isKept: Int32 = 1
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &isKept)
  }

  /// Whether the file could only be opened for reading.
  var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

  /// The number of rows that were changed by this connection.
  var changes: Int { Int(sqlite3_total_changes64(handle)) }

  /// Runs a statement and calls `body` with each of its rows.
  func run(_ sql: String, _ values: [SQLValue], _ body: (any SQLRow) -> Void) throws(SQLError) {
    let statement = try prepared(sql)
    defer { sqlite3_finalize(statement) }
    try step(statement, sql, values, body)
  }

  /// Returns the first column of each row, for statements with very many rows. A row of the protocol costs more than a
  /// number.
  func integers(_ sql: String, _ values: [SQLValue]) throws(SQLError) -> [Int] {
    let statement = try prepared(sql)
    defer { sqlite3_finalize(statement) }
    var found: [Int] = []
    try step(statement, sql, values) { found.append($0.integer(0)) }
    return found
  }

  /// Runs a statement once for each list of values, prepared once.
  func runEach(_ sql: String, _ rows: [[SQLValue]]) throws(SQLError) {
    let statement = try prepared(sql)
    defer { sqlite3_finalize(statement) }
    for values in rows {
      try step(statement, sql, values) { _ in }
      sqlite3_reset(statement)
    }
  }

  /// Runs `body` in a transaction: all of its changes are stored, or none. Threads wait for each other.
  func transaction(_ body: () throws(SQLError) -> Void) throws(SQLError) {
    try alone { () throws(SQLError) in
      // A write lock from the start. A lock that is taken later can fail without waiting.
      try run("BEGIN IMMEDIATE")
      do throws(SQLError) {
        try body()
        try run("COMMIT")
      } catch {
        try? run("ROLLBACK")
        throw error
      }
    }
  }

  /// Runs `body` while no other thread has a transaction of this connection.
  func alone(_ body: () throws(SQLError) -> Void) throws(SQLError) {
    try writing.withLock { (_) throws(SQLError) in try body() }
  }

  /// - Returns: a statement, to be finalized.
  private func prepared(_ sql: String) throws(SQLError) -> OpaquePointer {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw error(sql)
    }
    return statement
  }

  private func step(
    _ statement: OpaquePointer, _ sql: String, _ values: [SQLValue], _ body: (SQLiteRow) -> Void
  ) throws(SQLError) {
    for (number, value) in values.enumerated() {
      guard Self.bind(value, to: statement, Int32(number + 1)) == SQLITE_OK else { throw error(sql) }
    }
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: body(SQLiteRow(statement: statement))
      case SQLITE_DONE: return
      default: throw error(sql)
      }
    }
  }

  private func error(_ sql: String) -> SQLError {
    SQLError(sqlite3_extended_errcode(handle), String(cString: sqlite3_errmsg(handle)), sql)
  }

  private static func bind(_ value: SQLValue, to statement: OpaquePointer, _ number: Int32) -> Int32 {
    switch value {
    case .integer(let value): sqlite3_bind_int64(statement, number, Int64(value))
    case .real(let value): sqlite3_bind_double(statement, number, value)
    case .null: sqlite3_bind_null(statement, number)
    case .text(let value), .searchText(let value):
      // SQLITE_TRANSIENT, a cast that is not imported: SQLite copies the text.
      sqlite3_bind_text(
        statement, number, value, Int32(value.utf8.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      )
    }
  }
}

extension SQLError {
  /// - Parameter code: an extended result code.
  fileprivate init(_ code: Int32, _ message: String, _ statement: String) {
    let kind: Kind =
      switch code & 0xff {
      case SQLITE_BUSY: .busy
      case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
      default: .refused
      }
    self.init(kind: kind, code: "SQLite error \(code)", message: message, statement: statement)
  }
}

/// A row of an SQLite statement.
private struct SQLiteRow: SQLRow {
  let statement: OpaquePointer

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

  func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(statement, column)) }

  func real(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }

  func text(_ column: Int32) -> String? {
    sqlite3_column_text(statement, column).map { String(cString: $0) }
  }

  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let text = sqlite3_column_text(statement, column)
    return UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column)))
  }
}

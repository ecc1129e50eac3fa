import CSQLite

/// A statement that SQLite refused: its own words, its code and the statement.
struct SQLiteError: Error, CustomStringConvertible {
  let code: Int32
  let message: String
  let statement: String

  var description: String { "SQLite error \(code): \(message), in: \(statement)" }

  /// The file is no database, or a damaged one.
  var isCorruption: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xff) }
}

/// One open database. Every statement is prepared, run and finalized in one call.
// Opened in SQLite's serialized mode, in which it locks the connection itself.
final class SQLiteConnection: @unchecked Sendable {
  private let handle: OpaquePointer

  /// - Parameter name: a path, or a `file:` URI.
  init(_ name: String, flags: Int32) throws(SQLiteError) {
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(
      name, &handle, flags | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE, nil)
    guard code == SQLITE_OK, let handle else {
      let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close_v2(handle)
      throw SQLiteError(code: code, message: message, statement: "open \(name)")
    }
    self.handle = handle
    // Another process may be writing.
    sqlite3_busy_timeout(handle, 5000)
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs a statement and gives each of its rows to `body`.
  func run(
    _ sql: String, _ values: [SQLiteValue] = [], _ body: (SQLiteRow) -> Void = { _ in }
  ) throws(SQLiteError) {
    var prepared: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &prepared, nil) == SQLITE_OK, let statement = prepared else {
      throw error(sql)
    }
    defer { sqlite3_finalize(statement) }
    try step(statement, sql, values, body)
  }

  /// Runs a statement once for each list of values, prepared once.
  func runEach(_ sql: String, _ rows: [[SQLiteValue]]) throws(SQLiteError) {
    var prepared: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &prepared, nil) == SQLITE_OK, let statement = prepared else {
      throw error(sql)
    }
    defer { sqlite3_finalize(statement) }
    for values in rows {
      try step(statement, sql, values) { _ in }
      sqlite3_reset(statement)
    }
  }

  /// Everything that `body` writes, or nothing of it.
  func transaction(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    // A lock for writing from the start: one that is taken later can fail with no way to wait.
    try run("BEGIN IMMEDIATE")
    do throws(SQLiteError) {
      try body()
      try run("COMMIT")
    } catch {
      try? run("ROLLBACK")
      throw error
    }
  }

  private func step(
    _ statement: OpaquePointer, _ sql: String, _ values: [SQLiteValue], _ body: (SQLiteRow) -> Void
  ) throws(SQLiteError) {
    for (number, value) in values.enumerated() {
      guard value.bind(to: statement, Int32(number + 1)) == SQLITE_OK else { throw error(sql) }
    }
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: body(SQLiteRow(statement: statement))
      case SQLITE_DONE: return
      default: throw error(sql)
      }
    }
  }

  private func error(_ sql: String) -> SQLiteError {
    SQLiteError(
      code: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle)), statement: sql
    )
  }
}

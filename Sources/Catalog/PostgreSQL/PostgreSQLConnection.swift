import Glibc
import ZigguratCPostgreSQL

/// One open connection to a PostgreSQL database. A statement is prepared when it is first used.
// `PostgreSQLConnectionPool` lends a connection to one thread at a time.
final class PostgreSQLConnection: SQLConnection, @unchecked Sendable {
  private let handle: OpaquePointer
  /// The names of prepared statements, by their SQL.
  private var prepared: [String: String] = [:]
  /// The maximum number of prepared statements. The program repeats fewer.
  private static let maxPrepared = 200
  /// The timeout of a response; nil for none. A server that is stopped or cut off does not report it.
  var timeout: Duration? = PostgreSQLConnection.shortTimeout
  /// The timeout of callers that can do without the response.
  static let shortTimeout = Duration.seconds(3)
  /// A timeout that is longer than the server's own timeout of a statement.
  static let longTimeout = Duration.seconds(12)

  /// - Parameter address: a `postgresql://` URL. libpq supplies missing parts (section 34.1 of PostgreSQL's manual).
  init(_ address: String) throws(SQLError) {
    // Parameters after the address take precedence over it.
    let options = [
      ("connect_timeout", "3"), ("tcp_user_timeout", "3000"), ("keepalives_idle", "5"),
      ("keepalives_interval", "2"), ("keepalives_count", "3"), ("target_session_attrs", "read-write"),
      ("dbname", address),
      ("client_encoding", "UTF8"), ("fallback_application_name", "ziggurat"),
    ]
    let names = options.map { strdup($0.0) }
    let values = options.map { strdup($0.1) }
    defer { for text in names + values { free(text) } }
    let connected = (names + [nil]).map { $0.map { UnsafePointer($0) } }.withUnsafeBufferPointer { names in
      (values + [nil]).map { $0.map { UnsafePointer($0) } }.withUnsafeBufferPointer { values in
        PQconnectdbParams(names.baseAddress, values.baseAddress, 1)
      }
    }
    guard let connected else {
      throw SQLError(kind: .away, code: "PostgreSQL", message: "out of memory", statement: "connect")
    }
    handle = connected
    guard PQstatus(handle) == CONNECTION_OK else {
      let message = AddressSecrets.redacted(Self.line(PQerrorMessage(handle)), about: address)
      let isBarred =
        PQconnectionNeedsPassword(handle) == 1
        || PQconnectionUsedPassword(handle) == 1 && message.contains("password")
      throw SQLError(
        kind: isBarred ? .refused : .away, code: "PostgreSQL", message: message, statement: "connect")
    }
    // Notices would be written to standard error.
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    // Sending has the same timeout as the response.
    PQsetnonblocking(handle, 1)
    let settings = Self.settings.map { "set_config('\($0.0)', '\($0.1)', false)" }
    // In one statement: the number of round trips matters if many servers connect.
    try run("SELECT \(settings.joined(separator: ", "))")
  }

  private static let settings = [
    // A writer that stops within a transaction must not block its successor.
    ("statement_timeout", "10s"), ("lock_timeout", "5s"), ("idle_in_transaction_session_timeout", "2s"),
    // The best plan depends on the search terms.
    ("plan_cache_mode", "force_custom_plan"), ("work_mem", "32MB"), ("jit", "off"),
    // Other servers need the processors, too, and the searched data is in memory.
    ("max_parallel_workers_per_gather", "0"), ("random_page_cost", "1.1"),
  ]

  deinit { PQfinish(handle) }

  /// The connected host and database, without a password.
  var name: String { "\(Self.line(PQhost(handle)))/\(Self.line(PQdb(handle)))" }

  var isSound: Bool { PQstatus(handle) == CONNECTION_OK }

  /// Whether the connection is in no transaction and can be lent again.
  var isIdle: Bool { isSound && PQtransactionStatus(handle) == PQTRANS_IDLE }

  func run(_ sql: String, _ values: [SQLValue], _ body: (any SQLRow) -> Void) throws(SQLError) {
    let statement = try statement(sql)
    let result = try answer(send(statement, values), sql)
    defer { PQclear(result) }
    try check(result, sql)
    for row in 0..<PQntuples(result) { body(PostgreSQLRow(result: result!, row: row)) }
  }

  /// Returns the single result of a statement that was sent.
  private func answer(_ isSent: Int32, _ sql: String) throws(SQLError) -> OpaquePointer? {
    guard isSent == 1 else { throw sqlError(sql) }
    let end = timeout.map { ContinuousClock.now + $0 }
    try waitForAnswer(until: end, sql)
    let result = PQgetResult(handle)
    do throws(SQLError) {
      // An empty result follows, which has to be read, too.
      try waitForAnswer(until: end, sql)
      while let more = PQgetResult(handle) {
        PQclear(more)
        try waitForAnswer(until: end, sql)
      }
    } catch {
      PQclear(result)
      throw error
    }
    return result
  }

  /// Waits until a result can be read. After a timeout, the connection is unusable.
  private func waitForAnswer(until end: ContinuousClock.Instant?, _ sql: String) throws(SQLError) {
    while true {
      let unsent = PQflush(handle)
      guard unsent >= 0, PQconsumeInput(handle) == 1 else { throw sqlError(sql) }
      if PQisBusy(handle) == 0 { return }
      let wants = POLLIN | (unsent > 0 ? POLLOUT : 0)
      var socket = pollfd(fd: PQsocket(handle), events: Int16(wants), revents: 0)
      let rest = end.map { max(0, ($0 - .now) / .milliseconds(1)) } ?? .infinity
      // Data that libpq's TLS has already decrypted does not wake up `poll`.
      let ready = poll(&socket, 1, Int32(min(rest, 50).rounded(.up)))
      guard ready != 0 || rest > 0 else {
        throw SQLError(kind: .away, code: "PostgreSQL", message: "it does not answer", statement: sql)
      }
      guard ready >= 0 || errno == EINTR else { throw sqlError(sql) }
    }
  }

  func runEach(_ sql: String, _ rows: [[SQLValue]]) throws(SQLError) {
    guard !rows.isEmpty else { return }
    let statement = try statement(sql)
    // The number of statements that are sent before a result is read. A round trip then costs little, and neither side
    // blocks because the other does not read.
    for start in stride(from: 0, to: rows.count, by: 100) {
      let rows = rows[start..<min(start + 100, rows.count)]
      guard PQenterPipelineMode(handle) == 1 else { throw sqlError(sql) }
      var failure: SQLError?
      var sent = 0
      for values in rows {
        guard send(statement, values) == 1 else {
          failure = sqlError(sql)
          break
        }
        sent += 1
      }
      PQpipelineSync(handle)
      let end = timeout.map { ContinuousClock.now + $0 }
      func next() throws(SQLError) -> OpaquePointer? {
        try waitForAnswer(until: end, sql)
        return PQgetResult(handle)
      }
      for _ in 0..<sent {
        while let result = try next() {
          do throws(SQLError) { try check(result, sql) } catch { failure = failure ?? error }
          PQclear(result)
        }
      }
      // The result of the end of the pipeline.
      PQclear(try next())
      guard PQexitPipelineMode(handle) == 1 else { throw failure ?? sqlError(sql) }
      if let failure { throw failure }
    }
  }

  /// Runs `body` in a transaction: all of its changes are stored, or none.
  func transaction(_ body: () throws(SQLError) -> Void) throws(SQLError) {
    try run("BEGIN")
    do throws(SQLError) {
      try body()
    } catch {
      try? run("ROLLBACK")
      throw error
    }
    do throws(SQLError) { try run("COMMIT") } catch {
      // The transaction may be committed nevertheless, so it must not be repeated.
      guard error.kind == .away else { throw error }
      throw SQLError(kind: .busy, code: error.code, message: error.message, statement: error.statement)
    }
  }

  private func statement(_ sql: String) throws(SQLError) -> String {
    if let known = prepared[sql] { return known }
    if prepared.count == Self.maxPrepared {
      let sql = "DEALLOCATE ALL"
      PQclear(try answer(PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 0), sql))
      prepared = [:]
    }
    let name = "s\(prepared.count)"
    let result = try answer(PQsendPrepare(handle, name, Self.numbered(sql), 0, nil), sql)
    defer { PQclear(result) }
    try check(result, sql)
    prepared[sql] = name
    return name
  }

  /// Returns the statement with `$1` for the first `?`, or for `?1`. No statement has a question mark in a literal.
  static func numbered(_ sql: String) -> String {
    var result = ""
    var count = 0
    var isAfterMark = false
    for character in sql {
      if isAfterMark, !character.isNumber {
        count += 1
        result += "\(count)"
      }
      isAfterMark = character == "?"
      result.append(isAfterMark ? "$" : character)
    }
    return isAfterMark ? result + "\(count + 1)" : result
  }

  /// Sends a prepared statement. Returns 1 on success.
  private func send(_ statement: String, _ values: [SQLValue]) -> Int32 {
    let texts = values.map { value in value.postgreSQLText.map { strdup($0) ?? nil } ?? nil }
    defer { for text in texts { free(text) } }
    return texts.map { $0.map { UnsafePointer($0) } }.withUnsafeBufferPointer {
      PQsendQueryPrepared(handle, statement, Int32(values.count), $0.baseAddress, nil, nil, 0)
    }
  }

  private func check(_ result: OpaquePointer?, _ sql: String) throws(SQLError) {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_PIPELINE_SYNC: return
    default: break
    }
    let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
    guard !state.isEmpty, PQstatus(handle) == CONNECTION_OK else { throw sqlError(sql) }
    let message = Self.line(PQresultErrorField(result, Int32(UInt8(ascii: "M"))))
    throw SQLError(
      kind: Self.kind(state), code: "PostgreSQL error \(state)", message: message, statement: sql)
  }

  /// Returns the kind of an error by its code (appendix A of PostgreSQL's manual).
  private static func kind(_ state: String) -> SQLError.Kind {
    switch state {
    // Shutdown, startup, too many connections, or idle in a transaction for too long.
    case "57P01", "57P02", "57P03", "53300", "25P03": .away
    // A timeout, a lock, a serialization failure or a deadlock.
    case "57014", "55P03", "40001", "40P01": .busy
    default:
      switch state.prefix(2) {
      case "08": .away
      // A full disk, too little memory or a system error.
      case "53", "58": .busy
      // A value that a type cannot hold, or that is too long for an index. A violated constraint is no error of one
      // image, and is reported for the whole change.
      case "22", "54": .unfit
      default: .refused
      }
    }
  }

  private func sqlError(_ sql: String) -> SQLError {
    SQLError(
      kind: PQstatus(handle) == CONNECTION_OK ? .refused : .away, code: "PostgreSQL",
      message: Self.line(PQerrorMessage(handle)), statement: sql)
  }

  /// Returns the first line of a message from libpq.
  private static func line(_ text: UnsafePointer<CChar>?) -> String {
    let message = text.map { String(cString: $0) } ?? ""
    return message.split(separator: "\n").first.map(String.init) ?? message
  }
}

/// A row of a PostgreSQL result, with its values as text.
private struct PostgreSQLRow: SQLRow {
  let result: OpaquePointer
  let row: Int32

  func isNull(_ column: Int32) -> Bool { PQgetisnull(result, row, column) == 1 }

  func integer(_ column: Int32) -> Int { strtol(PQgetvalue(result, row, column), nil, 10) }

  func real(_ column: Int32) -> Double { strtod(PQgetvalue(result, row, column), nil) }

  func text(_ column: Int32) -> String? {
    isNull(column) ? nil : String(cString: PQgetvalue(result, row, column))
  }

  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
  }
}

extension SQLValue {
  /// The value as PostgreSQL's text; nil for NULL.
  fileprivate var postgreSQLText: String? {
    switch self {
    case .integer(let value): String(value)
    case .real(let value): String(value)
    // PostgreSQL's text cannot contain this character.
    case .text(let value): value.utf8.contains(0) ? value.replacing("\0", with: "\u{fffd}") : value
    case .searchText(let value): LexemeText.vector(value)
    case .null: nil
    }
  }
}

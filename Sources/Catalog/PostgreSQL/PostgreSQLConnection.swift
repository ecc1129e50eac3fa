import Glibc
import ZigguratCPostgreSQL

/// One open connection to a PostgreSQL database. Statements are prepared when they are met first.
// Whoever borrows it from `PostgreSQLPool` is alone with it.
final class PostgreSQLConnection: SQLConnection, @unchecked Sendable {
  private let handle: OpaquePointer
  /// Names of statements that are prepared, by what they are.
  private var prepared: [String: String] = [:]
  /// More of them than are met again.
  private static let mostPrepared = 200
  /// The timeout of a response; nil for none. A server that is stopped or cut off does not report it.
  var timeout: Duration? = PostgreSQLConnection.shortTimeout
  /// The timeout of callers that can do without the response.
  static let shortTimeout = Duration.seconds(3)
  /// Longer than the server itself lets a statement run.
  static let longTimeout = Duration.seconds(12)

  /// - Parameter address: a `postgresql://` URL; what it leaves out is libpq's to find (section 34.1 of PostgreSQL's
  ///   manual).
  init(_ address: String) throws(SQLError) {
    // What stands behind the address counts more than what it says itself.
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
    // Notices would stand on standard error.
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    // What is sent is not waited for longer than its answer.
    PQsetnonblocking(handle, 1)
    let settings = Self.settings.map { "set_config('\($0.0)', '\($0.1)', false)" }
    // At once: each round trip counts where many connect.
    try run("SELECT \(settings.joined(separator: ", "))")
  }

  private static let settings = [
    // A writer that was stopped in the middle must not hold up who takes its place.
    ("statement_timeout", "10s"), ("lock_timeout", "5s"), ("idle_in_transaction_session_timeout", "2s"),
    // How rows are found depends on the words.
    ("plan_cache_mode", "force_custom_plan"), ("work_mem", "32MB"), ("jit", "off"),
    // Other servers need the processors, too, and what is looked for in is in memory.
    ("max_parallel_workers_per_gather", "0"), ("random_page_cost", "1.1"),
  ]

  deinit { PQfinish(handle) }

  /// The host and database that it is connected to, without a password.
  var name: String { "\(Self.line(PQhost(handle)))/\(Self.line(PQdb(handle)))" }

  var isSound: Bool { PQstatus(handle) == CONNECTION_OK }

  /// Whether it is in no transaction and can be lent to somebody else.
  var isIdle: Bool { isSound && PQtransactionStatus(handle) == PQTRANS_IDLE }

  func run(_ sql: String, _ values: [SQLValue], _ body: (any SQLRow) -> Void) throws(SQLError) {
    let statement = try statement(sql)
    let result = try answer(send(statement, values), sql)
    defer { PQclear(result) }
    try check(result, sql)
    for row in 0..<PQntuples(result) { body(PostgreSQLRow(result: result!, row: row)) }
  }

  /// The one answer to what was sent.
  private func answer(_ isSent: Int32, _ sql: String) throws(SQLError) -> OpaquePointer? {
    guard isSent == 1 else { throw sqlError(sql) }
    let end = timeout.map { ContinuousClock.now + $0 }
    try waitForAnswer(until: end, sql)
    let result = PQgetResult(handle)
    do throws(SQLError) {
      // Behind it is nothing, which has to be read, too.
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

  /// Returns when an answer can be read; where none comes the connection is of no use any more.
  private func waitForAnswer(until end: ContinuousClock.Instant?, _ sql: String) throws(SQLError) {
    while true {
      let unsent = PQflush(handle)
      guard unsent >= 0, PQconsumeInput(handle) == 1 else { throw sqlError(sql) }
      if PQisBusy(handle) == 0 { return }
      let wants = POLLIN | (unsent > 0 ? POLLOUT : 0)
      var socket = pollfd(fd: PQsocket(handle), events: Int16(wants), revents: 0)
      let rest = end.map { max(0, ($0 - .now) / .milliseconds(1)) } ?? .infinity
      // What lies deciphered in libpq's TLS wakes nobody.
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
    // So many go on their way before an answer is read that a round trip costs little, and so few that neither side
    // waits for the other to read.
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
      // The answer to the end of the pipeline.
      PQclear(try next())
      guard PQexitPipelineMode(handle) == 1 else { throw failure ?? sqlError(sql) }
      if let failure { throw failure }
    }
  }

  /// Everything that `body` writes, or nothing of it.
  func transaction(_ body: () throws(SQLError) -> Void) throws(SQLError) {
    try run("BEGIN")
    do throws(SQLError) {
      try body()
    } catch {
      try? run("ROLLBACK")
      throw error
    }
    do throws(SQLError) { try run("COMMIT") } catch {
      // It may be written all the same, and written once more it would be refused, or be another's.
      guard error.kind == .away else { throw error }
      throw SQLError(kind: .busy, code: error.code, message: error.message, statement: error.statement)
    }
  }

  private func statement(_ sql: String) throws(SQLError) -> String {
    if let known = prepared[sql] { return known }
    if prepared.count == Self.mostPrepared {
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

  /// With `$1` for the first `?`, or for `?1`. No statement has a question mark in a text.
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

  /// Sends a prepared statement; returns 1 if that was possible.
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

  /// By the codes of appendix A of PostgreSQL's manual.
  private static func kind(_ state: String) -> SQLError.Kind {
    switch state {
    // Shutting down, starting up, too many connections, ended for being idle in a transaction.
    case "57P01", "57P02", "57P03", "53300", "25P03": .away
    // A time limit; a lock; two that wait for each other.
    case "57014", "55P03", "40001", "40P01": .busy
    default:
      switch state.prefix(2) {
      case "08": .away
      // A full disk, too little memory; an error of the system.
      case "53", "58": .busy
      // What a type cannot be; what is too long for an index. A constraint is no image's fault, and is told of all.
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

  /// The first line of what libpq says.
  private static func line(_ text: UnsafePointer<CChar>?) -> String {
    let message = text.map { String(cString: $0) } ?? ""
    return message.split(separator: "\n").first.map(String.init) ?? message
  }
}

/// A row of PostgreSQL's, whose values come as text.
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
  /// As PostgreSQL reads it; nil for NULL.
  fileprivate var postgreSQLText: String? {
    switch self {
    case .integer(let value): String(value)
    case .real(let value): String(value)
    // The one character that PostgreSQL's text cannot hold.
    case .text(let value): value.utf8.contains(0) ? value.replacing("\0", with: "\u{fffd}") : value
    case .searchText(let value): LexemeText.vector(value)
    case .null: nil
    }
  }
}

import Glibc
import Synchronization
import ZigguratCPostgreSQL

/// A connection pool of one database. Each connection is lent to one thread at a time. The pool has as many connections
/// as are used at once, and a few more.
final class PostgreSQLConnectionPool: Sendable {
  private struct State {
    var idle: [PostgreSQLConnection] = []
    /// The reason of the last failed connection, and the time of the next attempt.
    var outage: (reason: SQLError, until: ContinuousClock.Instant)?
    /// The message of the last refused statement.
    var refusal: String?
  }

  let address: String
  /// The host and database, without a password.
  let name: String
  private let state = Mutex(State())
  private static let maxIdle = 8
  /// The time without connection attempts after a failure. Callers get the error at once meanwhile.
  private static let pause = Duration.seconds(1)

  /// - Parameter address: `postgresql://…`. It is parsed, but no connection is opened yet.
  init(_ address: String) throws(SQLError) {
    var message: UnsafeMutablePointer<CChar>?
    guard let settings = PQconninfoParse(address, &message) else {
      defer { PQfreemem(message) }
      let detail = message.map { String(cString: $0) } ?? "out of memory"
      throw SQLError(
        kind: .refused, code: "PostgreSQL",
        message: AddressSecrets.redacted(
          detail.split(separator: "\n").first.map(String.init) ?? detail, about: address),
        statement: "read the address")
    }
    defer { PQconninfoFree(settings) }
    var known: [String: String] = [:]
    var at = settings
    while let keyword = at.pointee.keyword {
      if let value = at.pointee.val { known[String(cString: keyword)] = String(cString: value) }
      at += 1
    }
    self.address = address
    let place = (known["host"] ?? "") + (known["port"].map { ":\($0)" } ?? "") + "/" + (known["dbname"] ?? "")
    name = AddressSecrets.redacted(place, about: address)
  }

  /// The reason why the last request failed; nil if it succeeded.
  var outage: String? { state.withLock { $0.outage?.reason.message } }

  /// Returns the message of the last refused statement since the last call, as for a missing right.
  func takeRefusal() -> String? {
    state.withLock { state in
      defer { state.refusal = nil }
      return state.refusal
    }
  }

  /// Lends a connection to `body`. If the connection turns out to be broken, `body` runs again with a new one.
  /// - Parameter timeout: the timeout of each response.
  func use(
    timeout: Duration = PostgreSQLConnection.longTimeout,
    _ body: (PostgreSQLConnection) throws(SQLError) -> Void
  ) throws(SQLError) {
    let (known, outage) = state.withLock { ($0.idle.popLast(), $0.outage) }
    if let known {
      do throws(SQLError) { return try use(known, timeout, body) } catch {
        guard error.kind == .away else { throw error }
        // The other connections were opened before the failure, too.
        state.withLock { $0.idle = [] }
      }
    } else if let outage, .now < outage.until {
      throw outage.reason
    }
    do throws(SQLError) {
      let fresh = try PostgreSQLConnection(address)
      state.withLock { $0.outage = nil }
      try use(fresh, timeout, body)
    } catch {
      if error.kind == .away || error.statement == "connect" {
        state.withLock { $0.outage = (error, .now + Self.pause) }
      }
      throw error
    }
  }

  private func use(
    _ connection: PostgreSQLConnection, _ timeout: Duration,
    _ body: (PostgreSQLConnection) throws(SQLError) -> Void
  ) throws(SQLError) {
    connection.timeout = timeout
    defer {
      if connection.isIdle {
        state.withLock { state in
          // The database answers, even if an earlier request has failed in the meantime.
          state.outage = nil
          if state.idle.count < Self.maxIdle { state.idle.append(connection) }
        }
      }
    }
    do throws(SQLError) { try body(connection) } catch {
      // A mismatch of the tables is reported elsewhere.
      if error.kind == .refused, connection.isSound, !error.code.hasPrefix("version ") {
        state.withLock { [error] in $0.refusal = error.message }
      }
      throw error
    }
  }
}

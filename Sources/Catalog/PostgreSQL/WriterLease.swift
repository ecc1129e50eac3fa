import Glibc
import Synchronization

/// The right to write a catalog that many servers share. One server holds it at a time and renews it every second.
///
/// The holder is a row of the database, with the database's clock. A holder without heartbeats for `length` seconds
/// loses the lease to the next server that requests it. A holder without a URL loses it to a server with a URL. Each
/// holder has an epoch, which every transaction checks, so that a former holder cannot write after a pause.
final class WriterLease: Sendable {
  private struct State {
    var epoch: Int?
    var until = ContinuousClock.now
    /// The last known URL of the holder.
    var address = ""
    /// Whether this process no longer requests the lease.
    var isReleased = false
  }

  /// The duration of the lease in seconds.
  static let length = 3
  private let pool: PostgreSQLConnectionPool
  private let holder: String
  private let address: String
  /// The library of the catalog; nil for any.
  private let library: String?
  private let state = Mutex(State())

  /// - Parameters:
  ///   - address: the URL at which others reach this process; empty if there is none.
  ///   - library: the library of a catalog that has none yet. The lease of another library's catalog is not taken.
  init(_ pool: PostgreSQLConnectionPool, address: String, library: String?) {
    self.pool = pool
    self.address = address
    self.library = library
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count - 1)
    holder = "\(name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }) \(getpid())"
  }

  /// The epoch for transactions; nil if another process holds the lease, or if this process has not renewed it in time.
  var epoch: Int? { state.withLock { $0.until > .now ? $0.epoch : nil } }

  /// The URL of the process that writes; empty if it is unknown, or if this process writes.
  var writer: String {
    // This server's own address may be left from a process that was killed and whose lease has not expired.
    state.withLock { $0.epoch == nil && $0.address != address ? $0.address : "" }
  }

  /// Renews the lease, or requests it.
  func beat() {
    let began = ContinuousClock.now
    let (epoch, isReleased) = state.withLock { ($0.epoch, $0.isReleased) }
    if isReleased { return }
    var found: Int?
    var other = ""
    do throws(SQLError) {
      try pool.use(timeout: PostgreSQLConnection.shortTimeout) { (connection) throws(SQLError) in
        if let epoch {
          found = try connection.integer(
            "UPDATE writer SET beat = clock_timestamp() WHERE epoch = ? AND \(PostgreSQLSchema.isOurs) RETURNING epoch",
            [.integer(epoch)])
        } else {
          // A lock of a stopped process is skipped. A request that waited for it and timed out could get the lease
          // without knowing.
          found = try connection.integer(
            "UPDATE writer SET epoch = epoch + 1, holder = ?1, address = ?2, beat = clock_timestamp(), "
              + "library = coalesce(library, ?3) WHERE epoch = (SELECT epoch FROM writer "
              + "WHERE (beat < clock_timestamp() - make_interval(secs => \(Self.length)) OR address = '' AND ?2 <> '') "
              + "AND (library = ?3) IS NOT FALSE AND \(PostgreSQLSchema.isOurs) FOR UPDATE SKIP LOCKED) RETURNING epoch",
            [.text(holder), .text(address), SQLValue(library)])
          guard found == nil else { return }
          try connection.run("SELECT address FROM writer") { other = $0.text(0) ?? "" }
        }
      }
    } catch {
      // No process can take the lease while the database is unreachable. The known lease expires by itself.
      return
    }
    state.withLock { [found, other] in
      if $0.isReleased { return }
      $0 = State(epoch: found, until: began + .seconds(Self.length), address: other)
    }
  }

  /// Drops the lease after a transaction has found another epoch.
  func isLost(_ epoch: Int) { state.withLock { if $0.epoch == epoch { $0.epoch = nil } } }

  /// Releases the lease, so that another process can take it at once, and never requests it again.
  func release() {
    guard
      let epoch = state.withLock({ state in
        defer { (state.epoch, state.isReleased) = (nil, true) }
        return state.epoch
      })
    else { return }
    try? pool.use { (connection) throws(SQLError) in
      try connection.run("UPDATE writer SET beat = '-infinity' WHERE epoch = ?", [.integer(epoch)])
    }
  }
}

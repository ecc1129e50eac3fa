import Glibc
import Synchronization

/// The right to write a catalog that many servers share: one has it at a time, and says so every second.
///
/// Who has it is a row of the database, by the database's clock; whose beats stay out for `length` loses it to who asks
/// next, and whoever can be sent no changes to who can. Each holder has an epoch of its own, which every transaction
/// proves: whoever was stopped, and goes on later, writes nothing any more.
final class WriterLease: Sendable {
  private struct State {
    var epoch: Int?
    var until = ContinuousClock.now
    /// The last known URL of the holder.
    var address = ""
    /// That this process asks for it no more.
    var isReleased = false
  }

  /// In seconds.
  static let length = 3
  private let pool: PostgreSQLPool
  private let holder: String
  private let address: String
  /// The library of the catalog; nil for any.
  private let library: String?
  private let state = Mutex(State())

  /// - Parameters:
  ///   - address: where others reach this process; empty for nowhere.
  ///   - library: whose catalog it becomes where it is nobody's yet; of another's the right is not taken.
  init(_ pool: PostgreSQLPool, address: String, library: String?) {
    self.pool = pool
    self.address = address
    self.library = library
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count - 1)
    holder = "\(name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }) \(getpid())"
  }

  /// The number that transactions prove; nil where another process has the right, or this one has been silent too long.
  var epoch: Int? { state.withLock { $0.until > .now ? $0.epoch : nil } }

  /// The URL of the process that writes; empty if it is unknown, or if this process writes.
  var writer: String {
    // Its own address may be that of one that was killed, whose time is not over.
    state.withLock { $0.epoch == nil && $0.address != address ? $0.address : "" }
  }

  /// Says that this process is alive, or asks for the right.
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
          // Whoever was stopped in a transaction is not waited for: who gave up waiting would get the right without knowing it.
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
      // As long as nobody can be asked nobody can take it either, but the next one may.
      return
    }
    state.withLock { [found, other] in
      if $0.isReleased { return }
      $0 = State(epoch: found, until: began + .seconds(Self.length), address: other)
    }
  }

  /// To be called where a transaction found another's epoch.
  func isLost(_ epoch: Int) { state.withLock { if $0.epoch == epoch { $0.epoch = nil } } }

  /// Lets the next one have it at once, and never asks for it again.
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

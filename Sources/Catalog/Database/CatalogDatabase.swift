import ZigguratFiles

/// The database of a catalog's tables.
///
/// All queries of a catalog are written once, in SQL that each database understands. The differences are here and in
/// `SQLConnection`.
protocol CatalogDatabase: AnyObject, Sendable {
  /// The reason why the listing is only in memory, as a clause for the user; nil if it is on disk.
  var memoryReason: String? { get }

  /// Whether archives may be missing, because the tables are new or an update was interrupted.
  var needsUpdate: Bool { get }

  /// The number of times that the tables were created. An update notes it when it begins, because the tables may be
  /// recreated, and empty, before the update ends.
  var making: Int { get }

  /// Marks the tables as complete, after an update that has seen every archive.
  /// - Parameter making: the value of `making` when the update began.
  func isComplete(_ making: Int)

  /// Whether this process is the writer. Any number of processes can read.
  var isWriter: Bool { get }

  /// Releases the right to write, so that another process can take it at once.
  func handOver()

  /// The URL of the process that writes; empty if that is this process, or unknown.
  var writerURL: String { get }

  /// The reason for an outage, as far as is known without a query; nil if the database answers.
  var outage: String? { get }

  /// Returns the message of the last statement that the database refused since the last call.
  func takeRefusal() -> String?

  /// Runs `body`. It runs a second time if the database had to be reopened or recreated.
  func read(
    _ reading: CatalogReading, _ body: (any SQLConnection) throws(SQLError) -> Void) throws(StorageError)

  /// Runs `body` in a transaction: all of its changes are stored, or none.
  /// - Parameter making: the value of `making` when the data was read; nil for any. The call fails if the value has
  ///   changed, because the data may be outdated.
  func write(
    in making: Int?, _ body: (any SQLConnection) throws(SQLError) -> Void) throws(StorageError)

  /// Notes that very many images were listed in an order, so that an index can replace sorting the next time. Returns
  /// at once.
  func isListed(by order: ListOrder)

  /// Removes the remains of deleted rows. Fails if other processes keep reading.
  func vacuum() throws(StorageError)
}

/// The timeout of a query, and the connection that it uses.
enum CatalogReading {
  /// A query for rows by their keys. A database that is silent for seconds counts as unavailable.
  case row
  case ordinary
  /// A slow query. No other query waits for its end.
  case search
}

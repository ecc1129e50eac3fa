import ZigguratFiles

/// The database of a catalog's tables.
///
/// All that a catalog is asked is written once, in SQL that each database understands; what differs stands here and in
/// `SQLConnection`.
protocol CatalogDatabase: AnyObject, Sendable {
  /// Why the listing is in memory alone, in a clause for a person; nil where it lasts.
  var memoryReason: String? { get }

  /// Whether archives may be missing in it, since it is new or an update was cut short.
  var needsUpdate: Bool { get }

  /// The number of times that the tables were created, which an update notes when it begins: they may be recreated, and
  /// empty, before it ends.
  var making: Int { get }

  /// To be called when an update has seen every archive.
  /// - Parameter making: when it began.
  func isComplete(_ making: Int)

  /// Whether this process is the one that writes; any number may read.
  var isWriter: Bool { get }

  /// To be called when this process writes no more, so that the next one may at once.
  func handOver()

  /// The URL of the process that writes; empty if that is this process, or unknown.
  var writerURL: String { get }

  /// Why it does not answer, as far as is known without asking; nil where it does.
  var outage: String? { get }

  /// Returns the message of the last statement that the database refused since the last call.
  func takeRefusal() -> String?

  /// Runs `body`, and once more where the database had to be opened again, or made anew.
  func read(
    _ reading: CatalogReading, _ body: (any SQLConnection) throws(SQLError) -> Void) throws(StorageError)

  /// Runs `body` in a transaction: everything that it writes, or nothing of it.
  /// - Parameter making: fails where it is another one by now, so that what was found out meanwhile may be old; nil for
  ///   whichever it is.
  func write(
    in making: Int?, _ body: (any SQLConnection) throws(SQLError) -> Void) throws(StorageError)

  /// To be called when very many images were listed in an order: whoever lists them in it again should not have all
  /// sorted. Returns at once.
  func isListed(by order: ListOrder)

  /// Keeps nothing of rows that are gone; fails where others do not stop reading.
  func vacuum() throws(StorageError)
}

/// The time that a query may take, and the connection that it uses.
enum CatalogReading {
  /// Rows by their keys: where the database is silent for seconds, it is away.
  case row
  case ordinary
  /// Nobody else waits for its end.
  case search
}

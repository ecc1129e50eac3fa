/// A statement that a database refused, or could not be asked.
struct SQLError: Error, CustomStringConvertible {
  enum Kind {
    /// Others hold it up; another time it may go.
    case busy
    /// It is no database, or a damaged one.
    case damaged
    /// There is no way to it now.
    case away
    /// A value that its tables cannot hold.
    case unfit
    case refused
  }

  let kind: Kind
  /// The database's own number or word for it.
  let code: String
  /// The database's own words.
  let message: String
  let statement: String

  var description: String { "\(code): \(message), in: \(statement)" }
}

/// One open database that has the tables of a catalog, and what its SQL has in words of its own.
///
/// Statements have a `?` for each parameter in its turn, or `?1` for the first wherever it stands.
protocol SQLConnection: AnyObject {
  /// Runs a statement and gives each of its rows to `body`.
  func run(_ sql: String, _ values: [SQLValue], _ body: (any SQLRow) -> Void) throws(SQLError)

  /// Runs a statement once for each list of values.
  func runEach(_ sql: String, _ rows: [[SQLValue]]) throws(SQLError)

  /// The function that tells where in a text another one begins, counted from 1; 0 where it does not.
  var positionFunction: String { get }

  /// Differs from what it was when rows have changed since, whoever has changed them.
  func state() throws(SQLError) -> DatabaseState

  /// Returns the condition that selects rows with such words from a list in any order; nil if nothing can be found. A book
  /// with such pages is selected by its cover.
  /// - Parameters:
  ///   - limit: how many are wanted of it at once.
  ///   - isFarAway: whether a part of the list was looked through to no end.
  func choice(
    of terms: SearchTerms, in scope: ListScope, limit: Int, isFarAway: Bool
  ) throws(SQLError) -> SearchChoice?

  /// Returns the listed rows with such words behind a place, in their order, at most `limit`. A book with such pages is
  /// returned by its cover.
  /// - Parameter start: the shelf and id of the place.
  func found(_ terms: SearchTerms, behind start: [SQLValue], limit: Int) throws(SQLError) -> FoundRows
}

extension SQLConnection {
  func run(_ sql: String) throws(SQLError) { try run(sql, []) { _ in } }
  func run(_ sql: String, _ values: [SQLValue]) throws(SQLError) { try run(sql, values) { _ in } }
  func run(_ sql: String, _ body: (any SQLRow) -> Void) throws(SQLError) { try run(sql, [], body) }

  /// Returns what `make` reads from each row of a query, without nils.
  func rows<Element>(
    _ sql: String, _ values: [SQLValue] = [], _ make: (any SQLRow) -> Element?
  ) throws(SQLError) -> [Element] {
    var found: [Element] = []
    try run(sql, values) { if let element = make($0) { found.append(element) } }
    return found
  }

  /// Returns the first column of the one row of a query; nil if there is no row.
  func integer(_ sql: String, _ values: [SQLValue] = []) throws(SQLError) -> Int? {
    var found: Int?
    try run(sql, values) { found = $0.integer(0) }
    return found
  }
}

/// The result of a search.
struct FoundRows {
  /// By their numbers.
  var page: [Int] = []
  /// The number of rows on all pages.
  var total = 0
}

/// The rows of `image` that have the words of a search.
struct SearchChoice {
  /// The condition for such a row, behind another condition.
  var condition: String
  var values: [SQLValue]
  /// The number of rows of a list to look through, if very many meet the condition; nil otherwise.
  var window: Int?
  /// The number of listed rows; nil if they are few enough to be counted.
  var total: Int?
}

/// The version of a database's content.
struct DatabaseState: Hashable {
  /// The connection, if each has a database of its own; nil if all share one.
  let connection: ObjectIdentifier?
  let version: Int
}

/// The error of a statement that a database refused or could not run.
struct SQLError: Error, CustomStringConvertible {
  enum Kind {
    /// Another process blocks the statement. A later attempt may succeed.
    case busy
    /// The file is damaged, or is not a database.
    case damaged
    /// The database is unreachable at present.
    case away
    /// A value does not fit into the tables.
    case unfit
    case refused
  }

  let kind: Kind
  /// The error code of the database, a number or a name.
  let code: String
  /// The error message of the database.
  let message: String
  let statement: String

  var description: String { "\(code): \(message), in: \(statement)" }
}

/// One open database with the tables of a catalog, and the parts of SQL that differ between databases.
///
/// Statements have a `?` for each parameter in order, or `?1` for the first one at any position.
protocol SQLConnection: AnyObject {
  /// Runs a statement and calls `body` with each of its rows.
  func run(_ sql: String, _ values: [SQLValue], _ body: (any SQLRow) -> Void) throws(SQLError)

  /// Runs a statement once for each list of values.
  func runEach(_ sql: String, _ rows: [[SQLValue]]) throws(SQLError)

  /// The function that returns the position of a text in another one, counted from 1; 0 if it is not found.
  var positionFunction: String { get }

  /// Returns the state of the database. It differs after every change of rows by any process.
  func state() throws(SQLError) -> DatabaseState

  /// Returns the condition that selects matching rows from a list in any order; nil if nothing can match. A book with
  /// matching pages is selected by its cover.
  /// - Parameters:
  ///   - limit: the number of rows that are wanted at once.
  ///   - isFarAway: whether a search of one part of the list has already failed to find enough rows.
  func choice(
    of terms: SearchTerms, in scope: ListScope, limit: Int, isFarAway: Bool
  ) throws(SQLError) -> SearchChoice?

  /// Returns at most `limit` matching rows of the list behind a place, in order. A book with matching pages is returned
  /// as its cover.
  /// - Parameter start: the shelf and id of the place.
  func found(_ terms: SearchTerms, behind start: [SQLValue], limit: Int) throws(SQLError) -> FoundRows
}

extension SQLConnection {
  func run(_ sql: String) throws(SQLError) { try run(sql, []) { _ in } }
  func run(_ sql: String, _ values: [SQLValue]) throws(SQLError) { try run(sql, values) { _ in } }
  func run(_ sql: String, _ body: (any SQLRow) -> Void) throws(SQLError) { try run(sql, [], body) }

  /// Returns the values that `make` reads from the rows of a query, without nils.
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
  /// The rows of one page, by number.
  var page: [Int] = []
  /// The number of rows on all pages.
  var total = 0
}

/// The rows of `image` that match a search.
struct SearchChoice {
  /// The condition for such a row, to be added to another condition.
  var condition: String
  var values: [SQLValue]
  /// The number of rows of a list to check, if very many rows match; nil otherwise.
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

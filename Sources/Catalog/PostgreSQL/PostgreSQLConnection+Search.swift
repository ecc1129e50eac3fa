/// Searches by the index of lexemes.
extension PostgreSQLConnection {
  var positionFunction: String { "strpos" }

  func state() throws(SQLError) -> DatabaseState {
    var version = 0
    try run("SELECT changes FROM writer") { version = $0.integer(0) }
    return DatabaseState(connection: nil, version: version)
  }

  func finding(_ words: SearchWords, in scope: ListScope) -> (query: String, value: SQLValue)? {
    LexemeText.query(words, in: scope).map {
      ("SELECT number FROM image WHERE found @@ CAST(? AS tsquery)", .text($0))
    }
  }

  /// Found so often, images are met soon on the way through all that is listed, and are no longer counted.
  static let most = 10_000
  /// Rows of the sample that tells how often words are found, where there are so many more.
  private static let sampled = 10_000
  /// Of the sample as many as leave no doubt that all are more than `most` of a million.
  private static let often = 150
  /// Rows of the list that are looked through for those that are found often.
  private static let window = 20_000

  func found(_ words: SearchWords, behind start: [SQLValue], limit: Int) throws(SQLError) -> FoundRows {
    guard let query = LexemeText.query(words).map(SQLValue.text) else { return FoundRows() }
    // An index of lexemes tells all rows or none, and of what is found often that takes long.
    if try isOften(query) {
      if let page = try walked(query, start, limit) { return FoundRows(page: page, total: Self.most) }
    } else if let found = try sorted(query, start, limit, most: Self.most) {
      return found
    }
    var found = try sorted(query, start, limit, most: nil) ?? FoundRows()
    found.total = min(found.total, Self.most)
    return found
  }

  /// All that is found, put in order.
  /// - Parameter most: rows, pages of books as well, that are looked at; all where nil.
  /// - Returns: nil where there are more.
  private func sorted(
    _ query: SQLValue, _ start: [SQLValue], _ limit: Int, most: Int?
  ) throws(SQLError) -> FoundRows? {
    // A page of a book is found as its cover. What is none needs no second look.
    let hits =
      "WITH hit AS MATERIALIZED (SELECT number, cover, shelf, id FROM image WHERE found @@ CAST(?1 AS tsquery) "
      + "LIMIT CAST(?2 AS bigint)), "
      + "item AS MATERIALIZED (SELECT number, shelf, id FROM hit WHERE cover IS NULL AND shelf IS NOT NULL UNION ALL "
      + "SELECT number, shelf, id FROM image WHERE number IN (SELECT cover FROM hit WHERE cover IS NOT NULL)) "
    var result = FoundRows()
    var count = 0
    func take(_ row: any SQLRow) { (result.total, count) = (row.integer(1), row.integer(2)) }
    let counts = "(SELECT count(*) FROM item), (SELECT count(*) FROM hit)"
    let values = [query, SQLValue(most.map { $0 + 1 })]
    try run(
      hits + "SELECT number, \(counts) FROM item WHERE (shelf, id) > (?3, ?4) ORDER BY shelf, id LIMIT ?5",
      values + start + [.integer(limit)]
    ) {
      result.page.append($0.integer(0))
      take($0)
    }
    if result.page.isEmpty { try run(hits + "SELECT 0, \(counts)", values, take) }
    return most.map { count > $0 } ?? false ? nil : result
  }

  /// By the same pages of the table each time, which stay in memory.
  private func isOften(_ query: SQLValue) throws(SQLError) -> Bool {
    var rows = 0.0
    try run("SELECT reltuples FROM pg_class WHERE oid = to_regclass('image')") { rows = $0.real(0) }
    guard rows > Double(5 * Self.sampled) else { return false }
    let share = 100 * Double(Self.sampled) / rows
    var count = 0
    try run(
      "SELECT count(*) FROM image TABLESAMPLE SYSTEM (?2) REPEATABLE (0) WHERE found @@ CAST(?1 AS tsquery)",
      [query, .real(share)]
    ) { count = $0.integer(0) }
    return Double(count) * rows / Double(Self.sampled) > Double(Self.often * Self.most / 100)
      && count >= Self.often
  }

  /// Those that the list comes by behind a place, so far and no further; nil where there are not enough within that.
  private func walked(
    _ query: SQLValue, _ start: [SQLValue], _ limit: Int
  ) throws(SQLError) -> [Int]? {
    var page: [Int] = []
    let found =
      "found @@ CAST(?1 AS tsquery) OR pages IS NOT NULL AND EXISTS (SELECT 1 FROM image AS page "
      + "WHERE page.cover = listed.number AND page.found @@ CAST(?1 AS tsquery))"
    let listed =
      "SELECT number, shelf, id, pages, found FROM image WHERE shelf IS NOT NULL AND (shelf, id) > (?2, ?3) "
      + "ORDER BY shelf, id LIMIT CAST(?5 AS bigint)"
    try run(
      "SELECT number FROM (\(listed)) AS listed WHERE \(found) ORDER BY shelf, id LIMIT ?4",
      [query] + start + [.integer(limit), .integer(Self.window)]
    ) { page.append($0.integer(0)) }
    return page.count < limit ? nil : page
  }
}

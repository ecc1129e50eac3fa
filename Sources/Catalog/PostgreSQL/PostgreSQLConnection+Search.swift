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
      ("SELECT number FROM searched WHERE words @@ CAST(? AS tsquery)", .text($0))
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
    if let sample = try Sample(query, of: Self.sampled, self), sample.found >= Self.often,
      sample.estimate > Self.often * Self.most / 100
    {
      let isNear = try sample.estimate(behind: start, within: Self.window, self) >= 2 * limit
      if isNear, let page = try walked(query, start, limit) { return FoundRows(page: page, total: Self.most) }
    } else if let found = try sorted(query, start, limit) {
      return found
    }
    return try first(query, start, limit)
  }

  /// How often words are found, by the same pages of the table each time, which stay in memory.
  private struct Sample {
    private let query: SQLValue
    private let rows: Int
    private let share: Double
    let found: Int

    /// Nil of a table that is not much larger.
    init?(_ query: SQLValue, of rows: Int, _ connection: PostgreSQLConnection) throws(SQLError) {
      var all = 0.0
      try connection.run("SELECT reltuples FROM pg_class WHERE oid = to_regclass('searched')") {
        all = $0.real(0)
      }
      guard all > Double(5 * rows) else { return nil }
      (self.query, self.rows, share) = (query, rows, Double(rows) / all)
      var found = 0
      try connection.run(
        "SELECT count(*) FROM searched TABLESAMPLE SYSTEM (?2) REPEATABLE (0) WHERE words @@ CAST(?1 AS tsquery)",
        [query, .real(100 * share)]
      ) { found = $0.integer(0) }
      self.found = found
    }

    /// Rows of the table.
    var estimate: Int { Int(Double(found) / share) }

    /// The same among so many rows of the list that come next.
    func estimate(
      behind start: [SQLValue], within count: Int, _ connection: PostgreSQLConnection
    ) throws(SQLError) -> Int {
      var found = 0
      try connection.run(
        "WITH near AS (SELECT words FROM searched TABLESAMPLE SYSTEM (?2) REPEATABLE (0) "
          + "WHERE shelf IS NOT NULL AND (shelf, id) > (?3, ?4) ORDER BY shelf, id LIMIT ?5) "
          + "SELECT count(*) FROM near WHERE words @@ CAST(?1 AS tsquery)",
        [query, .real(100 * share)] + start + [.integer(Int(Double(count) * share))]
      ) { found = $0.integer(0) }
      return Int(Double(found) / share)
    }
  }

  /// All that is found, put in order and counted.
  /// - Returns: nil where there are more than are counted, pages of books as well.
  private func sorted(
    _ query: SQLValue, _ start: [SQLValue], _ limit: Int
  ) throws(SQLError) -> FoundRows? {
    // A page of a book is found as its cover. What is none needs no second look.
    let hits =
      "WITH hit AS MATERIALIZED (SELECT number, cover, shelf, id FROM searched WHERE words @@ CAST(?1 AS tsquery) "
      + "LIMIT CAST(?2 AS bigint)), "
      + "item AS MATERIALIZED (SELECT number, shelf, id FROM hit WHERE cover IS NULL AND shelf IS NOT NULL UNION ALL "
      + "SELECT number, shelf, id FROM searched WHERE number IN (SELECT cover FROM hit WHERE cover IS NOT NULL)) "
    var result = FoundRows()
    var count = 0
    func take(_ row: any SQLRow) { (result.total, count) = (row.integer(1), row.integer(2)) }
    let counts = "(SELECT count(*) FROM item), (SELECT count(*) FROM hit)"
    let values = [query, .integer(Self.most + 1)]
    try run(
      hits + "SELECT number, \(counts) FROM item WHERE (shelf, id) > (?3, ?4) ORDER BY shelf, id LIMIT ?5",
      values + start + [.integer(limit)]
    ) {
      result.page.append($0.integer(0))
      take($0)
    }
    if result.page.isEmpty { try run(hits + "SELECT 0, \(counts)", values, take) }
    return count > Self.most ? nil : result
  }

  /// The first of all that is found: each is looked at once, none kept that is not among them, and `most` are counted.
  private func first(
    _ query: SQLValue, _ start: [SQLValue], _ limit: Int
  ) throws(SQLError) -> FoundRows {
    // "OFFSET 0" has the index of words asked first. By the index of what is listed, which PostgreSQL would take for the
    // order's sake, the first may be far away.
    let own =
      "SELECT number, shelf, id FROM (SELECT number, shelf, id FROM searched WHERE words @@ CAST(?1 AS tsquery) "
      + "AND shelf IS NOT NULL AND (shelf, id) > (?2, ?3) OFFSET 0) AS own ORDER BY shelf, id LIMIT ?4"
    let covers =
      "SELECT number, shelf, id FROM searched WHERE number IN "
      + "(SELECT cover FROM searched WHERE words @@ CAST(?1 AS tsquery) AND cover IS NOT NULL) "
      + "AND (shelf, id) > (?2, ?3) ORDER BY shelf, id LIMIT ?4"
    var result = FoundRows()
    try run(
      "SELECT number FROM ((\(own)) UNION (\(covers))) AS item ORDER BY shelf, id LIMIT ?4",
      [query] + start + [.integer(limit)]
    ) { result.page.append($0.integer(0)) }
    let single =
      "SELECT number FROM searched WHERE words @@ CAST(?1 AS tsquery) AND cover IS NULL AND shelf IS NOT NULL "
      + "LIMIT CAST(?2 AS bigint)"
    let books = "SELECT DISTINCT cover FROM searched WHERE words @@ CAST(?1 AS tsquery) AND cover IS NOT NULL"
    try run("SELECT count(*) FROM ((\(single)) UNION ALL (\(books))) AS item", [query, .integer(Self.most)]) {
      result.total = min($0.integer(0), Self.most)
    }
    return result
  }

  /// Those that the list comes by behind a place, so far and no further; nil where there are not enough within that.
  private func walked(
    _ query: SQLValue, _ start: [SQLValue], _ limit: Int
  ) throws(SQLError) -> [Int]? {
    var page: [Int] = []
    let found =
      "words @@ CAST(?1 AS tsquery) OR cover IS NOT NULL AND EXISTS (SELECT 1 FROM searched AS page "
      + "WHERE page.cover = listed.number AND page.words @@ CAST(?1 AS tsquery))"
    let listed =
      "SELECT number, shelf, id, cover, words FROM searched WHERE shelf IS NOT NULL AND (shelf, id) > (?2, ?3) "
      + "ORDER BY shelf, id LIMIT CAST(?5 AS bigint)"
    try run(
      "SELECT number FROM (\(listed)) AS listed WHERE \(found) ORDER BY shelf, id LIMIT ?4",
      [query] + start + [.integer(limit), .integer(Self.window)]
    ) { page.append($0.integer(0)) }
    return page.count < limit ? nil : page
  }
}

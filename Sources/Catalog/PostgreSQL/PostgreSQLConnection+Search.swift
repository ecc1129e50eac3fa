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
    if try isOften(query), let page = try walked(query, start, limit) {
      return FoundRows(page: page, total: Self.most)
    }
    var numbers: Set<Int> = []
    var count = 0
    try run(
      "SELECT coalesce(cover, number) FROM image WHERE found @@ CAST(? AS tsquery) LIMIT ?",
      [query, .integer(Self.most + 1)]
    ) {
      numbers.insert($0.integer(0))
      count += 1
    }
    guard count <= Self.most else {
      return FoundRows(page: try walked(query, start, limit, window: nil) ?? [], total: Self.most)
    }
    var result = FoundRows(total: numbers.count)
    let list = SQLValue.text("{\(numbers.map(String.init).joined(separator: ","))}")
    try run(
      "SELECT number FROM image WHERE number = ANY (CAST(? AS bigint[])) AND (shelf, id) > (?, ?) "
        + "ORDER BY shelf, id LIMIT ?", [list] + start + [.integer(limit)]
    ) { result.page.append($0.integer(0)) }
    return result
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

  /// Those that the list comes by behind a place.
  /// - Parameter window: so far and no further; for ever where nil.
  /// - Returns: nil where there are not enough within that.
  private func walked(
    _ query: SQLValue, _ start: [SQLValue], _ limit: Int, window: Int? = window
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
      [query] + start + [.integer(limit), SQLValue(window)]
    ) { page.append($0.integer(0)) }
    return window != nil && page.count < limit ? nil : page
  }
}

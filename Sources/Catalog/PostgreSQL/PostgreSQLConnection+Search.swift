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

  func found(_ words: SearchWords, behind start: [SQLValue], limit: Int) throws(SQLError) -> FoundRows {
    guard let query = LexemeText.query(words).map(SQLValue.text) else { return FoundRows() }
    var numbers: Set<Int> = []
    var count = 0
    try run(
      "SELECT coalesce(cover, number) FROM image WHERE found @@ CAST(? AS tsquery) LIMIT ?",
      [query, .integer(Self.most + 1)]
    ) {
      numbers.insert($0.integer(0))
      count += 1
    }
    var result = FoundRows(total: numbers.count)
    if count <= Self.most {
      let list = SQLValue.text("{\(numbers.map(String.init).joined(separator: ","))}")
      try run(
        "SELECT number FROM image WHERE number = ANY (CAST(? AS bigint[])) AND (shelf, id) > (?, ?) "
          + "ORDER BY shelf, id LIMIT ?", [list] + start + [.integer(limit)]
      ) { result.page.append($0.integer(0)) }
    } else {
      result.total = Self.most
      try run(
        "SELECT number FROM image WHERE shelf IS NOT NULL AND (shelf, id) > (?2, ?3) AND (found @@ CAST(?1 AS tsquery) "
          + "OR pages IS NOT NULL AND EXISTS (SELECT 1 FROM image AS page WHERE page.cover = image.number "
          + "AND page.found @@ CAST(?1 AS tsquery))) ORDER BY shelf, id LIMIT ?4",
        [query] + start + [.integer(limit)]
      ) { result.page.append($0.integer(0)) }
    }
    return result
  }
}

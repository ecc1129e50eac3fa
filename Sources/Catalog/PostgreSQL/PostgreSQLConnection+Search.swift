/// Searches with the index of lexemes.
extension PostgreSQLConnection {
  var positionFunction: String { "strpos" }

  func state() throws(SQLError) -> DatabaseState {
    DatabaseState(connection: nil, version: try integer("SELECT changes FROM writer") ?? 0)
  }

  /// The number of matches up to which they are counted.
  static let maximum = 5_000
  /// The number of sampled rows, which estimate the frequency of terms in a much larger table.
  static let sampled = 10_000
  /// The number of matches in the sample that probably means more than `maximum` in a million rows.
  private static let often = 75
  /// The maximum number of terms of a search whose frequency is measured separately.
  private static let maxDistance = 8
  /// The number of rows of the list that are checked for frequent terms.
  static let window = 40_000

  func found(_ terms: SearchTerms, behind start: [SQLValue], limit: Int) throws(SQLError) -> FoundRows {
    let each = Self.apart(LexemeText.queries(terms))
    guard !each.isEmpty else { return FoundRows() }
    guard let sample = try Sample(each, of: Self.sampled, behind: start, limit, self) else {
      return try sortedOrFirst(Search(asked: each, looked: []), start, limit)
    }
    // An index of lexemes returns all matches or none, which takes long for frequent terms.
    guard sample.isOften(sample.found) else {
      return try sortedOrFirst(sample.search, start, limit)
    }
    // Twice the rows that are needed if matches are spread evenly. Matches in a single folder are not met elsewhere.
    let window = 2 * limit * Self.sampled / sample.found
    var page = window <= Self.window ? try walked(sample.search, start, limit, within: window) : nil
    if page == nil { page = try firstWithin(sample, start, limit) }
    // Many matching pages may belong to few books.
    return FoundRows(page: page ?? [], total: sample.isMany ? Self.maximum : try count(sample.search))
  }

  /// Joins the last terms of a long search into one query, since each query is run on the whole sample.
  static func apart(_ each: [String]) -> [String] {
    guard each.count > maxDistance else { return each }
    return each[..<maxDistance] + [each[maxDistance...].joined(separator: " & ")]
  }

  /// The queries for the index of lexemes, and the queries that are checked row by row.
  struct Search {
    let asked, looked: [String]

    var all: String { (asked + looked).joined(separator: " & ") }

    /// The condition for a row. It uses the first two parameters.
    var condition: String {
      "words @@ CAST(?1 AS tsquery) AND (words @@ CAST(?2 AS tsquery)) IS NOT FALSE"
    }

    var values: [SQLValue] {
      // A null meets the second part of the condition.
      [
        .text(asked.joined(separator: " & ")),
        looked.isEmpty ? .null : .text(looked.joined(separator: " & ")),
      ]
    }
  }

  /// The frequency of terms in a sample of the table. It uses the same pages each time, which stay in memory.
  struct Sample {
    private let share: Double
    /// The rows that match all terms.
    private(set) var found = 0
    /// The matches that are not pages of a book, and the number of the table's pages that contain some of them.
    private var single = 0
    private var blocks = 0
    /// The shelf up to which there are at least `limit` matches, and a few more; nil if the list ends before.
    private(set) var shelf: String?
    /// The index finds the rare terms. The rows found are checked for much more frequent terms.
    let search: Search

    /// Takes a sample; nil if the table is not much larger than the sample.
    init?(
      _ queries: [String], of rows: Int, behind start: [SQLValue], _ limit: Int,
      _ connection: PostgreSQLConnection
    ) throws(SQLError) {
      var all = 0.0
      try connection.run("SELECT reltuples FROM pg_class WHERE oid = to_regclass('searched')") {
        all = $0.real(0)
      }
      guard all > Double(5 * rows) else { return nil }
      share = Double(rows) / all
      let has = queries.indices.map { "has_\($0)" }
      let together = has.joined(separator: " AND ")
      let looked = queries.indices.map { "words @@ CAST(?\($0 + 5) AS tsquery) AS has_\($0)" }
      var (counts, end): ([Int], String?) = ([], nil)
      // With "OFFSET 0", PostgreSQL checks each row only once for each term.
      try connection.run(
        "SELECT count(*) FILTER (WHERE \(together)), count(*) FILTER (WHERE \(together) AND cover IS NULL), "
          + "count(DISTINCT (CAST(CAST(place AS text) AS point))[0]) FILTER (WHERE \(together) AND cover IS NULL), "
          + has.map { "count(*) FILTER (WHERE \($0))" }.joined(separator: ", ")
          + ", (array_agg(shelf ORDER BY shelf) FILTER (WHERE \(together) AND cover IS NULL AND (shelf, id) > (?2, ?3)))"
          + "[CAST(?4 AS integer)] FROM (SELECT cover, shelf, id, ctid AS place, \(looked.joined(separator: ", ")) "
          + "FROM searched TABLESAMPLE SYSTEM (?1) REPEATABLE (0) OFFSET 0) AS sample",
        [.real(100 * share)] + start + [.integer(5 + Int(3 * Double(limit) * share))]
          + queries.map { .text($0) }
      ) { row in
        counts = (0..<Int32(queries.count + 3)).map { row.integer($0) }
        end = row.text(Int32(queries.count + 3))
      }
      guard counts.count == queries.count + 3 else { return nil }
      found = counts[0]
      single = counts[1]
      blocks = counts[2]
      shelf = end
      let ranked = zip(queries, counts[3...]).sorted { $0.1 < $1.1 }
      // Checking a row takes ten times as long as finding it in the index.
      let most = max(rows / 200, 10 * ranked[0].1)
      let asked = ranked.filter { $0.1 <= most }.map(\.0)
      search = Search(asked: asked, looked: ranked.map(\.0).filter { !asked.contains($0) })
    }

    /// Whether a number of matches in the sample surely means more matches than are counted.
    func isOften(_ count: Int) -> Bool {
      count >= PostgreSQLConnection.often
        && estimate(count) > PostgreSQLConnection.often * PostgreSQLConnection.maximum / 100
    }

    /// Returns an estimate for the whole table from a number of rows of the sample.
    func estimate(_ count: Int) -> Int { Int(Double(count) / share) }

    /// Whether there are surely more matches than are counted. The rows of one table page are sampled together, so
    /// pages are counted, less three standard deviations.
    var isMany: Bool {
      guard blocks > 0 else { return false }
      let least = Double(blocks) - 3 * Double(blocks).squareRoot()
      return least * Double(single) / Double(blocks) / share >= Double(PostgreSQLConnection.maximum)
    }
  }

  private func sortedOrFirst(
    _ search: Search, _ start: [SQLValue], _ limit: Int
  ) throws(SQLError) -> FoundRows {
    if let found = try sorted(search, start, limit) { return found }
    return FoundRows(page: try first(search, start, limit), total: try count(search))
  }

  /// Returns one page of the matches, sorted and counted.
  /// - Returns: nil if there are very many matches, including pages of books.
  private func sorted(
    _ search: Search, _ start: [SQLValue], _ limit: Int
  ) throws(SQLError) -> FoundRows? {
    // A page of a book is found as its cover. Other rows need no second lookup.
    let hits =
      "WITH hit AS MATERIALIZED (SELECT number, cover, shelf, id FROM searched WHERE \(search.condition) "
      + "LIMIT CAST(?3 AS bigint)), "
      + "item AS MATERIALIZED (SELECT number, shelf, id FROM hit WHERE cover IS NULL AND shelf IS NOT NULL UNION ALL "
      + "SELECT number, shelf, id FROM searched WHERE number IN (SELECT cover FROM hit WHERE cover IS NOT NULL)) "
    var result = FoundRows()
    var count = 0
    func take(_ row: any SQLRow) {
      result.total = min(row.integer(1), Self.maximum)
      count = row.integer(2)
    }
    let counts = "(SELECT count(*) FROM item), (SELECT count(*) FROM hit)"
    // A larger number than is counted, so that an error of the sample causes no second query.
    let most = 2 * Self.maximum
    let values = search.values + [.integer(most + 1)]
    try run(
      hits + "SELECT number, \(counts) FROM item WHERE (shelf, id) > (?4, ?5) ORDER BY shelf, id LIMIT ?6",
      values + start + [.integer(limit)]
    ) {
      result.page.append($0.integer(0))
      take($0)
    }
    if result.page.isEmpty { try run(hits + "SELECT 0, \(counts)", values, take) }
    return count > most ? nil : result
  }

  /// Returns the first matches. If the sample shows how far they reach, only the matches up to there are sorted.
  private func firstWithin(
    _ sample: Sample, _ start: [SQLValue], _ limit: Int
  ) throws(SQLError) -> [Int] {
    let isInOrder = try isInOrder
    if let shelf = sample.shelf {
      let page = try first(sample.search, start, limit, upTo: shelf, isInOrder)
      if page.count == limit { return page }
    }
    return try first(sample.search, start, limit, isInOrder)
  }

  /// Whether about 95% of the table's rows are in the order of the list (the correlation is about the square of that
  /// share). If table pages have mixed rows, the index of pages costs more than it saves, because PostgreSQL checks
  /// each of their rows.
  private var isInOrder: Bool {
    get throws(SQLError) {
      try rows(
        "SELECT correlation FROM pg_stats WHERE (schemaname, tablename) = (current_schema(), 'searched_pages')"
      ) { $0.real(0) }.first ?? 0 > 0.9
    }
  }

  /// Returns the first matches. It visits each row once and keeps only the first ones.
  /// - Parameters:
  ///   - shelf: the last shelf that counts; nil for all.
  ///   - isInOrder: whether to skip table pages without rows between the place and the shelf.
  private func first(
    _ search: Search, _ start: [SQLValue], _ limit: Int, upTo shelf: String? = nil, _ isInOrder: Bool = false
  ) throws(SQLError) -> [Int] {
    // The first page needs no condition for each row.
    let behind = "(CAST(?3 AS text) = '' OR (shelf, id) > (?3, ?4))"
    let end = shelf == nil ? "" : " AND shelf <= ?6"
    // In the form of the index of pages. For the result of a subquery, PostgreSQL estimates few rows. For a constant it
    // would assume that matches are spread evenly, and ignore this index.
    let pages =
      isInOrder
      ? " AND shelf || '' >= (SELECT CAST(?3 AS text))"
        + (shelf == nil ? "" : " AND shelf || '' <= (SELECT CAST(?6 AS text))") : ""
    // With "OFFSET 0", PostgreSQL uses the index of lexemes first. For the sake of the order it would use the index of
    // the list, in which the first match may be far away.
    let own =
      "SELECT number, shelf, id FROM (SELECT number, shelf, id FROM searched WHERE \(search.condition) "
      + "AND shelf IS NOT NULL AND \(behind)\(end)\(pages) OFFSET 0) AS own ORDER BY shelf, id LIMIT ?5"
    let covers =
      "SELECT number, shelf, id FROM searched WHERE number IN "
      + "(SELECT cover FROM searched WHERE \(search.condition) AND cover IS NOT NULL) "
      + "AND \(behind)\(end) ORDER BY shelf, id LIMIT ?5"
    return try rows(
      "SELECT number FROM ((\(own)) UNION (\(covers))) AS item ORDER BY shelf, id LIMIT ?5",
      search.values + start + [.integer(limit)] + (shelf.map { [.text($0)] } ?? [])
    ) { $0.integer(0) }
  }

  /// Returns the number of listed items that are found, at most `maximum`.
  func count(_ search: Search) throws(SQLError) -> Int {
    let single =
      "SELECT number FROM searched WHERE \(search.condition) AND cover IS NULL AND shelf IS NOT NULL "
      + "LIMIT CAST(?3 AS bigint)"
    let books = "SELECT DISTINCT cover FROM searched WHERE \(search.condition) AND cover IS NOT NULL"
    let count = try integer(
      "SELECT count(*) FROM ((\(single)) UNION ALL (\(books))) AS item",
      search.values + [.integer(Self.maximum)])
    return min(count ?? 0, Self.maximum)
  }

  /// Finds items along the list behind a place, within a window; nil if the window has too few.
  private func walked(
    _ search: Search, _ start: [SQLValue], _ limit: Int, within window: Int
  ) throws(SQLError) -> [Int]? {
    let found =
      "words @@ CAST(?1 AS tsquery) OR cover IS NOT NULL AND EXISTS (SELECT 1 FROM searched AS page "
      + "WHERE page.cover = listed.number AND page.words @@ CAST(?1 AS tsquery))"
    let listed =
      "SELECT number, shelf, id, cover, words FROM searched WHERE shelf IS NOT NULL AND (shelf, id) > (?2, ?3) "
      + "ORDER BY shelf, id LIMIT CAST(?5 AS bigint)"
    let page = try rows(
      "SELECT number FROM (\(listed)) AS listed WHERE \(found) ORDER BY shelf, id LIMIT ?4",
      [.text(search.all)] + start + [.integer(limit), .integer(window)]
    ) { $0.integer(0) }
    return page.count < limit ? nil : page
  }
}

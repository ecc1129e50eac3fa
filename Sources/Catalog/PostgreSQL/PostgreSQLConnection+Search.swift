/// Searches by the index of lexemes.
extension PostgreSQLConnection {
  var positionFunction: String { "strpos" }

  func state() throws(SQLError) -> DatabaseState {
    DatabaseState(connection: nil, version: try integer("SELECT changes FROM writer") ?? 0)
  }

  /// Found so often, images are no longer counted.
  static let most = 5_000
  /// Rows of the sample that tells how often words are found, where there are so many more.
  static let sampled = 10_000
  /// The number of rows of the sample that probably means more than `most` of a million.
  private static let often = 75
  /// Words of a search of which it is told how often each is found.
  private static let mostApart = 8
  /// Rows of the list that are looked through for those that are found often.
  static let window = 40_000

  func found(_ terms: SearchTerms, behind start: [SQLValue], limit: Int) throws(SQLError) -> FoundRows {
    let each = Self.apart(LexemeText.queries(terms))
    guard !each.isEmpty else { return FoundRows() }
    guard let sample = try Sample(each, of: Self.sampled, behind: start, limit, self) else {
      return try sortedOrFirst(Search(asked: each, looked: []), start, limit)
    }
    // An index of lexemes tells all rows or none, and of what is found often that takes long.
    guard sample.isOften(sample.found) else {
      return try sortedOrFirst(sample.search, start, limit)
    }
    // As far as there would be twice as many, were they everywhere alike; what is in one folder is met nowhere else.
    let window = 2 * limit * Self.sampled / sample.found
    var page = window <= Self.window ? try walked(sample.search, start, limit, within: window) : nil
    if page == nil { page = try firstWithin(sample, start, limit) }
    // Of books as many pages may be few.
    return FoundRows(page: page ?? [], total: sample.isMany ? Self.most : try count(sample.search))
  }

  /// Joins the last words of a long search into one query, since each query is run on the whole sample.
  static func apart(_ each: [String]) -> [String] {
    guard each.count > mostApart else { return each }
    return each[..<mostApart] + [each[mostApart...].joined(separator: " & ")]
  }

  /// The queries for an index of lexemes, and those that are checked row by row.
  struct Search {
    let asked, looked: [String]

    var all: String { (asked + looked).joined(separator: " & ") }

    /// The condition for a row, with the first two parameters.
    var condition: String {
      "words @@ CAST(?1 AS tsquery) AND (words @@ CAST(?2 AS tsquery)) IS NOT FALSE"
    }

    var values: [SQLValue] {
      // What is there no more of is no condition.
      [
        .text(asked.joined(separator: " & ")),
        looked.isEmpty ? .null : .text(looked.joined(separator: " & ")),
      ]
    }
  }

  /// The frequency of words in a sample of the table. It uses the same pages each time, which stay in memory.
  struct Sample {
    private let share: Double
    /// Rows that have all words.
    private(set) var found = 0
    /// The rows that are not pages of a book, and the number of the table's pages that contain some.
    private var single = 0
    private var blocks = 0
    /// Up to which there are `limit` rows with all words, and some more; nil where that is the end.
    private(set) var shelf: String?
    /// The seldom ones are asked for, and what is far more often is looked for in what has those.
    let search: Search

    /// Takes a sample; nil if the table is not much larger.
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
      // "OFFSET 0" has each row looked at once for each word.
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
      // To look at a row takes ten times as long as to find it in the index.
      let most = max(rows / 200, 10 * ranked[0].1)
      let asked = ranked.filter { $0.1 <= most }.map(\.0)
      search = Search(asked: asked, looked: ranked.map(\.0).filter { !asked.contains($0) })
    }

    /// Whether so many of the sample are surely more than are counted.
    func isOften(_ count: Int) -> Bool {
      count >= PostgreSQLConnection.often
        && estimate(count) > PostgreSQLConnection.often * PostgreSQLConnection.most / 100
    }

    /// Rows of the table, by rows of the sample.
    func estimate(_ count: Int) -> Int { Int(Double(count) / share) }

    /// Whether surely more than are counted are found. What lies together in few of the table's pages is sampled all or
    /// not at all, so that the pages count, and of them three standard deviations less.
    var isMany: Bool {
      guard blocks > 0 else { return false }
      let least = Double(blocks) - 3 * Double(blocks).squareRoot()
      return least * Double(single) / Double(blocks) / share >= Double(PostgreSQLConnection.most)
    }
  }

  private func sortedOrFirst(
    _ search: Search, _ start: [SQLValue], _ limit: Int
  ) throws(SQLError) -> FoundRows {
    if let found = try sorted(search, start, limit) { return found }
    return FoundRows(page: try first(search, start, limit), total: try count(search))
  }

  /// All that is found, put in order and counted.
  /// - Returns: nil where there are very many, pages of books as well.
  private func sorted(
    _ search: Search, _ start: [SQLValue], _ limit: Int
  ) throws(SQLError) -> FoundRows? {
    // A page of a book is found as its cover. What is none needs no second look.
    let hits =
      "WITH hit AS MATERIALIZED (SELECT number, cover, shelf, id FROM searched WHERE \(search.condition) "
      + "LIMIT CAST(?3 AS bigint)), "
      + "item AS MATERIALIZED (SELECT number, shelf, id FROM hit WHERE cover IS NULL AND shelf IS NOT NULL UNION ALL "
      + "SELECT number, shelf, id FROM searched WHERE number IN (SELECT cover FROM hit WHERE cover IS NOT NULL)) "
    var result = FoundRows()
    var count = 0
    func take(_ row: any SQLRow) {
      result.total = min(row.integer(1), Self.most)
      count = row.integer(2)
    }
    let counts = "(SELECT count(*) FROM item), (SELECT count(*) FROM hit)"
    // More than are counted, so that the sample's error costs no second look.
    let most = 2 * Self.most
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

  /// The first of all that is found. Where the sample tells up to where they are, no more than those are put in order.
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

  /// Whether the table's rows lie in the order of the list, all but a twentieth or so (the correlation is about the
  /// square of the share that does). Of pages with rows from everywhere the index would have each row looked at, which
  /// costs more than it spares.
  private var isInOrder: Bool {
    get throws(SQLError) {
      try rows(
        "SELECT correlation FROM pg_stats WHERE (schemaname, tablename) = (current_schema(), 'searched_pages')"
      ) { $0.real(0) }.first ?? 0 > 0.9
    }
  }

  /// The same: each is looked at once, and none kept that is not among them.
  /// - Parameters:
  ///   - shelf: behind which nothing counts; nil for all.
  ///   - isInOrder: whether pages of the table are passed over that hold nothing of what is between.
  private func first(
    _ search: Search, _ start: [SQLValue], _ limit: Int, upTo shelf: String? = nil, _ isInOrder: Bool = false
  ) throws(SQLError) -> [Int] {
    // Of the first page it is no condition for each row.
    let behind = "(CAST(?3 AS text) = '' OR (shelf, id) > (?3, ?4))"
    let end = shelf == nil ? "" : " AND shelf <= ?6"
    // As the index of pages has it. Of what a query tells, PostgreSQL supposes that it is little; of a value it would
    // suppose that what is found is spread evenly, and not ask this index.
    let pages =
      isInOrder
      ? " AND shelf || '' >= (SELECT CAST(?3 AS text))"
        + (shelf == nil ? "" : " AND shelf || '' <= (SELECT CAST(?6 AS text))") : ""
    // "OFFSET 0" has the index of words asked first. By the index of what is listed, which PostgreSQL would take for the
    // order's sake, the first may be far away.
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

  /// Returns the number of listed items that are found, at most `most`.
  func count(_ search: Search) throws(SQLError) -> Int {
    let single =
      "SELECT number FROM searched WHERE \(search.condition) AND cover IS NULL AND shelf IS NOT NULL "
      + "LIMIT CAST(?3 AS bigint)"
    let books = "SELECT DISTINCT cover FROM searched WHERE \(search.condition) AND cover IS NOT NULL"
    let count = try integer(
      "SELECT count(*) FROM ((\(single)) UNION ALL (\(books))) AS item",
      search.values + [.integer(Self.most)])
    return min(count ?? 0, Self.most)
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

/// Searches in a folder, in a book, and in other orders than the list's own.
///
/// The query gets the numbers of the matching rows. For a condition instead, PostgreSQL estimates hardly any matches,
/// and repeats the search for each row.
extension PostgreSQLConnection {
  /// The maximum number of rows that are passed to a query by number.
  private static let maxNumbers = 20_000

  func choice(
    of terms: SearchTerms, in scope: ListScope, limit: Int, isFarAway: Bool
  ) throws(SQLError) -> SearchChoice? {
    guard let query = LexemeText.query(terms, in: scope) else { return nil }
    switch scope {
    case .book: return numbers(try inBook(query, scope))
    case .folder:
      let isWhole = try isFarAway ? true : isSmall(scope)
      if isWhole { return numbers(try inFolder(query, scope)) }
    case .items: if isFarAway { return all(query) }
    }
    let each = Self.apart(LexemeText.queries(terms))
    let sample = try Sample(each, of: Self.sampled, behind: [.text(""), .text("")], limit, self)
    let search = sample?.search ?? Search(asked: each, looked: [])
    if sample.map({ !$0.isOften($0.found) }) ?? true, let found = try few(search) { return numbers(found) }
    var choice = Self.lookedAt(query)
    // With fewer matches, the whole window is checked.
    if let sample, sample.found > 0, scope == .items {
      choice.window = min(Self.window, 4 * limit * Self.sampled / sample.found)
    }
    choice.total =
      if scope != .items { try countInFolder(query, scope) } else if sample?.isMany == true {
        Self.maximum
      } else {
        try count(search)
      }
    return choice
  }

  private func numbers(_ numbers: [Int]) -> SearchChoice {
    let list = "{\(numbers.map(String.init).joined(separator: ","))}"
    return SearchChoice(condition: "number = ANY (CAST(? AS bigint[]))", values: [.text(list)])
  }

  private func all(_ query: String) -> SearchChoice {
    SearchChoice(
      condition:
        "number IN (SELECT coalesce(cover, number) FROM searched WHERE words @@ CAST(? AS tsquery))",
      values: [.text(query)])
  }

  /// Returns a condition that checks each row by itself. PostgreSQL never runs a scalar subquery for all rows at once.
  private static func lookedAt(_ query: String) -> SearchChoice {
    SearchChoice(
      condition: "((SELECT words @@ CAST(? AS tsquery) FROM searched WHERE searched.number = image.number) "
        + "OR pages IS NOT NULL AND (SELECT bool_or(words @@ CAST(? AS tsquery)) FROM searched WHERE searched.cover = image.number))",
      values: [.text(query), .text(query)], window: window)
  }

  /// Returns all matches; nil if there are more than can be passed by number.
  private func few(_ search: Search) throws(SQLError) -> [Int]? {
    let found = try rows(
      "SELECT coalesce(cover, number) FROM searched WHERE \(search.condition) LIMIT CAST(?3 AS bigint)",
      search.values + [.integer(Self.maxNumbers + 1)]
    ) { $0.integer(0) }
    return found.count > Self.maxNumbers ? nil : Array(Set(found))
  }

  private func inBook(_ query: String, _ scope: ListScope) throws(SQLError) -> [Int] {
    let (condition, values) = Catalog.condition(scope)
    return try rows(
      "SELECT number FROM (SELECT number, (SELECT words FROM searched WHERE searched.number = image.number) AS words "
        + "FROM image WHERE \(condition) OFFSET 0) AS page WHERE words @@ CAST(? AS tsquery)",
      values + [.text(query)]
    ) { $0.integer(0) }
  }

  /// Returns the rows of a folder, with a check of each row.
  private static func listed(_ condition: String) -> String {
    "(SELECT number, cover, words FROM searched WHERE \(condition) OFFSET 0) AS listed "
      + "WHERE words @@ CAST(? AS tsquery) OR cover IS NOT NULL AND "
      + "(SELECT bool_or(page.words @@ CAST(? AS tsquery)) FROM searched AS page WHERE page.cover = listed.number)"
  }

  private func isSmall(_ scope: ListScope) throws(SQLError) -> Bool {
    let (condition, values) = Catalog.condition(scope)
    let count = try integer(
      "SELECT count(*) FROM (SELECT 1 FROM searched WHERE \(condition) LIMIT CAST(? AS bigint)) AS listed",
      values + [.integer(Self.maxNumbers + 1)])
    return count ?? 0 <= Self.maxNumbers
  }

  private func inFolder(_ query: String, _ scope: ListScope) throws(SQLError) -> [Int] {
    let (condition, values) = Catalog.condition(scope)
    return try rows("SELECT number FROM \(Self.listed(condition))", values + [.text(query), .text(query)]) {
      $0.integer(0)
    }
  }

  private func countInFolder(_ query: String, _ scope: ListScope) throws(SQLError) -> Int {
    let (condition, values) = Catalog.condition(scope)
    return try integer(
      "SELECT count(*) FROM (SELECT 1 FROM \(Self.listed(condition)) LIMIT CAST(? AS bigint)) AS found",
      values + [.text(query), .text(query), .integer(Self.maximum)]) ?? 0
  }
}

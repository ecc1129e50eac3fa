/// Searches with SQLite's FTS5.
extension SQLiteConnection {
  var positionFunction: String { "instr" }

  func choice(
    of terms: SearchTerms, in scope: ListScope, limit: Int, isFarAway: Bool
  ) throws(SQLError) -> SearchChoice? {
    guard let query = terms.query(in: scope) else { return nil }
    let found = "SELECT rowid FROM words WHERE words MATCH ?"
    let condition =
      if case .book = scope { "number IN (\(found))" } else {
        "number IN (SELECT coalesce(cover, number) FROM image WHERE number IN (\(found)))"
      }
    return SearchChoice(condition: condition, values: [.text(query)])
  }

  /// The number of matches up to which they are sorted. With more matches, a walk along the list soon meets enough of
  /// them.
  private static let fewest = 2000
  /// The number of matches up to which they are counted.
  private static let maximum = 100_000

  func found(_ terms: SearchTerms, behind start: [SQLValue], limit: Int) throws(SQLError) -> FoundRows {
    guard let query = terms.query() else { return FoundRows() }
    // Skipped for a database in which no search was that frequent; most databases are small.
    let last = try hasMany.load(ordering: .relaxed) ? integer("SELECT max(number) FROM image") ?? 0 : 0
    // For a term in every other image, the index alone would take longer than all the rest. A few rows identify other
    // terms.
    if last > Self.maximum, try met(terms, after: start, limit: 3, batches: 2) != nil,
      try areMany(terms, upTo: last),
      let page = try met(terms, after: start, limit: limit, batches: 20)
    {
      return FoundRows(page: page, total: Self.maximum)
    }
    var numbers = try integers(
      "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", [.text(query), .integer(Self.maximum + 1)])
    let isCounted = numbers.count <= Self.maximum
    if !isCounted {
      hasMany.store(true, ordering: .relaxed)
      if let page = try met(terms, after: start, limit: limit, batches: 20) {
        return FoundRows(page: page, total: Self.maximum)
      }
      // The matches are far behind the place.
      numbers = try integers("SELECT rowid FROM words WHERE words MATCH ?", [.text(query)])
    }
    if numbers.count <= Self.fewest {
      let found = try sorted(numbers)
      return FoundRows(page: try behind(start, found), total: found.count)
    }
    var found = Wanted(numbers)
    try found.bind(self)
    let page = try walked(found, after: start, limit: limit)
    return FoundRows(page: page, total: isCounted ? found.count : min(found.count, Self.maximum))
  }

  func state() throws(SQLError) -> DatabaseState {
    // `data_version` covers the writes of other connections, also in this process, since one connection is only for
    // writing. Tables in memory have a single connection, so its own changes are added.
    let version = try integer("PRAGMA data_version") ?? 0
    return DatabaseState(connection: ObjectIdentifier(self), version: version &+ changes)
  }

  private static func list(_ numbers: some Sequence<Int>) -> String {
    numbers.map(String.init).joined(separator: ",")
  }

  /// Returns the listed rows for some rows. A page of a book is listed as its cover.
  private func sorted(_ numbers: [Int]) throws(SQLError) -> [Int] {
    try integers(
      "SELECT DISTINCT coalesce(cover, number) FROM image WHERE number IN (\(Self.list(numbers)))", [])
  }

  private func behind(_ start: [SQLValue], _ numbers: [Int]) throws(SQLError) -> [Int] {
    try integers(
      "SELECT number FROM image WHERE number IN (\(Self.list(numbers))) AND (shelf, id) > (?, ?) ORDER BY shelf, id",
      start)
  }

  /// A set of very many row numbers.
  private struct Wanted {
    private var isWanted: [Bool]
    private(set) var count: Int

    init(_ numbers: [Int]) {
      isWanted = [Bool](repeating: false, count: (numbers.max() ?? 0) + 1)
      for number in numbers { isWanted[number] = true }
      count = numbers.count
    }

    func has(_ number: Int) -> Bool { number < isWanted.count && isWanted[number] }

    /// Replaces the pages of books by their covers.
    mutating func bind(_ connection: SQLiteConnection) throws(SQLError) {
      var covers: Set<Int> = []
      var pages: [Int] = []
      // The whole result is in the index.
      try connection.run("SELECT number, cover FROM image WHERE cover IS NOT NULL") { row in
        guard has(row.integer(0)) else { return }
        pages.append(row.integer(0))
        covers.insert(row.integer(1))
      }
      for page in pages { isWanted[page] = false }
      let missing = (covers.max() ?? 0) + 1 - isWanted.count
      if missing > 0 { isWanted += [Bool](repeating: false, count: missing) }
      for cover in covers { isWanted[cover] = true }
      count += covers.count - pages.count
    }
  }

  /// The number of listed rows that are read along the index before the whole list is loaded into memory.
  private static let farthest = 40_000

  /// Returns the first `limit` wanted rows along the index of the list.
  private func walked(_ wanted: Wanted, after start: [SQLValue], limit: Int) throws(SQLError) -> [Int] {
    if let listed = listed.withLock({ $0 }), try listed.state == state(),
      let found = try first(limit, of: wanted, in: listed.numbers, after: start)
    {
      return found
    }
    var found: [Int] = []
    var last = start
    var step = limit * 2
    var seen = 0
    while seen < Self.farthest {
      var met = 0
      var next = last
      // The whole result is in the index, which contains the row numbers of the table.
      try run(
        "SELECT number, shelf, id FROM image WHERE shelf IS NOT NULL AND (shelf, id) > (?, ?) "
          + "ORDER BY shelf, id LIMIT ?", last + [.integer(step)]
      ) { row in
        met += 1
        let number = row.integer(0)
        let isFound = wanted.has(number)
        if met == step || isFound, let shelf = row.text(1), let id = row.text(2) {
          if isFound { found.append(number) }
          next = [.text(shelf), .text(id)]
        }
      }
      if found.count >= limit || met < step { return Array(found.prefix(limit)) }
      last = next
      seen += met
      step = min(step * 2, 10_000)
    }
    while true {
      var numbers: [UInt32] = []
      let state = try self.state()
      try run("SELECT number FROM image WHERE shelf IS NOT NULL ORDER BY shelf, id") {
        numbers.append(UInt32(clamping: $0.integer(0)))
      }
      // This list is right for the current search, even if rows were written in the meantime.
      if numbers.count <= ListedNumbers.maximum, try self.state() == state {
        listed.withLock { $0 = ListedNumbers(state: state, numbers: numbers) }
      }
      if let found = try first(limit, of: wanted, in: numbers, after: start) { return found }
    }
  }

  /// Finds wanted rows behind a place; nil if the first row behind it was not listed yet.
  private func first(
    _ limit: Int, of wanted: Wanted, in numbers: [UInt32], after start: [SQLValue]
  ) throws(SQLError) -> [Int]? {
    let next = try integer(
      "SELECT number FROM image WHERE shelf IS NOT NULL AND (shelf, id) > (?, ?) ORDER BY shelf, id LIMIT 1",
      start)
    guard let next else { return [] }
    guard let place = numbers.firstIndex(of: UInt32(clamping: next)) else { return nil }
    return Array(numbers[place...].lazy.map(Int.init).filter(wanted.has).prefix(limit))
  }

  /// Whether there are surely more matches than are counted. The estimate samples some rows in each part of the table,
  /// and subtracts three standard deviations from their sum.
  private func areMany(_ terms: SearchTerms, upTo last: Int) throws(SQLError) -> Bool {
    let wanted = WantedTerms(terms)
    let parts = 64
    let rows = 24
    let size = last / parts
    var sum = 0.0
    var squares = 0.0
    for part in 0..<parts {
      // A random place in each part, so that no sample follows a periodic pattern.
      let first = part * size + .random(in: 1...size - rows + 1)
      var count = 0.0
      // Some row numbers may be unused. A page of a book is found as its cover.
      try run(
        "SELECT search, book_search FROM image WHERE number BETWEEN ? AND ? AND cover IS NULL AND shelf IS NOT NULL",
        [.integer(first), .integer(first + rows - 1)]
      ) { if wanted.areIn([$0.text(0), $0.text(1)].compactMap(\.self)) { count += 1 } }
      sum += count
      squares += count * count
    }
    let mean = sum / Double(parts)
    let deviation = max(0, squares - sum * mean).squareRoot()
    return (sum - 3 * deviation) * Double(last) / Double(parts * rows) > Double(Self.maximum)
  }

  /// Returns the first `limit` rows whose own text matches, for matches so frequent that few rows are skipped. Nil if
  /// they are not found in `batches` batches of twice `limit` rows.
  private func met(
    _ terms: SearchTerms, after start: [SQLValue], limit: Int, batches: Int
  ) throws(SQLError) -> [Int]? {
    let wanted = WantedTerms(terms)
    var found: [Int] = []
    var last = start
    for _ in 0..<batches {
      var rows: [(number: Int, texts: [String], isBook: Bool, place: [SQLValue])] = []
      try run(
        "SELECT number, shelf, id, search, book_search, pages FROM image WHERE shelf IS NOT NULL "
          + "AND (shelf, id) > (?, ?) ORDER BY shelf, id LIMIT ?", last + [.integer(2 * limit)]
      ) { row in
        let texts = [row.text(3), row.text(4)].compactMap(\.self)
        rows.append((row.integer(0), texts, !row.isNull(5), [SQLValue(row.text(1)), SQLValue(row.text(2))]))
      }
      for row in rows {
        var isFound = wanted.areIn(row.texts)
        if !isFound, row.isBook {
          try run("SELECT search FROM image WHERE cover = ?", [.integer(row.number)]) { page in
            isFound = isFound || wanted.areIn([page.text(0) ?? ""])
          }
        }
        if isFound { found.append(row.number) }
        if found.count == limit { return found }
      }
      guard rows.count == 2 * limit, let place = rows.last?.place else { return found }
      last = place
    }
    return nil
  }
}

/// The row numbers of all listed rows, in order. A pass over a million of them takes a hundredth of the time of a pass
/// over the index.
struct ListedNumbers: Sendable {
  /// The state of the database at that time.
  let state: DatabaseState
  let numbers: [UInt32]

  /// The maximum number of rows. More would take too much memory (16 MB).
  static let maximum = 4_000_000
}

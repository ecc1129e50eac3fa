/// Searches by SQLite's FTS5.
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

  /// Found so often, images are met soon on the way through all that is listed; less often, they are sorted.
  private static let fewest = 2000
  /// Found so often, they are no longer counted.
  private static let most = 100_000

  func found(_ terms: SearchTerms, behind start: [SQLValue], limit: Int) throws(SQLError) -> FoundRows {
    guard let query = terms.query() else { return FoundRows() }
    // Not asked of a database in which nothing was found as often: most are small.
    let last = try hasMany.load(ordering: .relaxed) ? integer("SELECT max(number) FROM image") ?? 0 : 0
    // Of what every other image has the index alone would take longer than all of the rest. Others are told by few rows.
    if last > Self.most, try met(terms, after: start, limit: 3, batches: 2) != nil,
      try areMany(terms, upTo: last),
      let page = try met(terms, after: start, limit: limit, batches: 20)
    {
      return FoundRows(page: page, total: Self.most)
    }
    var numbers = try integers(
      "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", [.text(query), .integer(Self.most + 1)])
    let isCounted = numbers.count <= Self.most
    if !isCounted {
      hasMany.store(true, ordering: .relaxed)
      if let page = try met(terms, after: start, limit: limit, batches: 20) {
        return FoundRows(page: page, total: Self.most)
      }
      // Far away.
      numbers = try integers("SELECT rowid FROM words WHERE words MATCH ?", [.text(query)])
    }
    if numbers.count <= Self.fewest {
      let found = try sorted(numbers)
      return FoundRows(page: try behind(start, found), total: found.count)
    }
    var found = Wanted(numbers)
    try found.bind(self)
    let page = try walked(found, after: start, limit: limit)
    return FoundRows(page: page, total: isCounted ? found.count : min(found.count, Self.most))
  }

  func state() throws(SQLError) -> DatabaseState {
    // Of others' writing; of this process's, too, since there is a connection for writing alone. Tables in memory have
    // one for all.
    let version = try integer("PRAGMA data_version") ?? 0
    return DatabaseState(connection: ObjectIdentifier(self), version: version &+ changes)
  }

  private static func list(_ numbers: some Sequence<Int>) -> String {
    numbers.map(String.init).joined(separator: ",")
  }

  /// The rows that are listed for these.
  private func sorted(_ numbers: [Int]) throws(SQLError) -> [Int] {
    try integers(
      "SELECT DISTINCT coalesce(cover, number) FROM image WHERE number IN (\(Self.list(numbers)))", [])
  }

  private func behind(_ start: [SQLValue], _ numbers: [Int]) throws(SQLError) -> [Int] {
    try integers(
      "SELECT number FROM image WHERE number IN (\(Self.list(numbers))) AND (shelf, id) > (?, ?) ORDER BY shelf, id",
      start)
  }

  /// Rows by number, of very many.
  private struct Wanted {
    private var isWanted: [Bool]
    private(set) var count: Int

    init(_ numbers: [Int]) {
      isWanted = [Bool](repeating: false, count: (numbers.max() ?? 0) + 1)
      for number in numbers { isWanted[number] = true }
      count = numbers.count
    }

    func has(_ number: Int) -> Bool { number < isWanted.count && isWanted[number] }

    /// Puts the covers of books in the place of pages.
    mutating func bind(_ connection: SQLiteConnection) throws(SQLError) {
      var covers: Set<Int> = []
      var pages: [Int] = []
      // In the index whole.
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

  /// Rows that the index of what is listed is gone along for those that are found, before all of it is kept in memory.
  private static let farthest = 40_000

  /// The first `limit` of them that the index of what is listed comes by.
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
      // The whole answer is in the index, which the table's row numbers are part of.
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
      // Whatever was written meanwhile, this is what is listed for the one who asks now.
      if numbers.count <= ListedNumbers.most, try self.state() == state {
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

  /// Whether surely more are found than are counted: by a sample of some rows in each part of the table, of whose sum
  /// three standard deviations are taken off.
  private func areMany(_ terms: SearchTerms, upTo last: Int) throws(SQLError) -> Bool {
    let wanted = WantedTerms(terms)
    let parts = 64
    let rows = 24
    let size = last / parts
    var sum = 0.0
    var squares = 0.0
    for part in 0..<parts {
      // In its own place of each, so that nothing that comes again and again is met each time.
      let first = part * size + .random(in: 1...size - rows + 1)
      var count = 0.0
      // Rows by number, of which some may be gone; a page of a book is found as its cover.
      try run(
        "SELECT search, book_search FROM image WHERE number BETWEEN ? AND ? AND cover IS NULL AND shelf IS NOT NULL",
        [.integer(first), .integer(first + rows - 1)]
      ) { if wanted.areIn([$0.text(0), $0.text(1)].compactMap(\.self)) { count += 1 } }
      sum += count
      squares += count * count
    }
    let mean = sum / Double(parts)
    let deviation = max(0, squares - sum * mean).squareRoot()
    return (sum - 3 * deviation) * Double(last) / Double(parts * rows) > Double(Self.most)
  }

  /// The first `limit` whose own words the search finds, of so many that hardly any is passed over; nil where they are not
  /// met within so many batches of twice as many rows.
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

/// The row numbers of all that is listed, in its order: to go along a million of them takes a hundredth of the time that
/// the index takes.
struct ListedNumbers: Sendable {
  /// The state of the database at that time.
  let state: DatabaseState
  let numbers: [UInt32]

  /// More would be too much memory for that: 16 MB.
  static let most = 4_000_000
}

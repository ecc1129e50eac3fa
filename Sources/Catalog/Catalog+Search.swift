package import Files
import TileStorage

extension Catalog {
  /// One page of what was found.
  package struct Findings: Sendable {
    /// In natural order, of a book its cover.
    package var entries: [CatalogEntry] = []
    /// Of all pages together.
    package var total = 0
    package var hasMore = false
  }

  /// Found so often, images are met soon on the way through all that is listed; less often, they are sorted.
  private static let fewest = 2000

  /// Images behind `cursor` in natural order, at most `limit`, that have a word beginning with each of `text`'s in id,
  /// title, caption, creator, date, place or keywords; case and accents do not count. Of a book that has such pages, or of
  /// which that is said, its cover.
  package func search(_ text: String, after cursor: ListCursor?, limit: Int) throws(StorageError) -> Findings
  {
    guard let query = SearchWords(text).query() else { return Findings() }
    let start = [SQLiteValue.text(cursor?.key ?? ""), .text(cursor?.id ?? "")]
    var result = Findings()
    var page: [Int] = []
    try read(isSearch: true) { (connection) throws(SQLiteError) in
      (result, page) = (Findings(), [])
      var numbers: [Int] = []
      try connection.run("SELECT rowid FROM words WHERE words MATCH ?", [.text(query)]) {
        numbers.append($0.integer(0))
      }
      if numbers.count <= Self.fewest {
        let found = try Self.sorted(numbers, connection)
        result.total = found.count
        page = try Self.behind(start, found, connection)
      } else {
        var found = Wanted(numbers)
        try found.bind(connection)
        result.total = found.count
        page = try Self.walked(found, after: start, limit: limit + 1, connection)
      }
      result.hasMore = page.count > limit
      try connection.run(
        "SELECT \(CatalogSchema.columns) FROM image WHERE number IN (\(Self.list(page.prefix(limit)))) "
          + "ORDER BY shelf, id"
      ) { if let entry = CatalogSchema.entry($0) { result.entries.append(entry) } }
    }
    return result
  }

  private static func list(_ numbers: some Sequence<Int>) -> String {
    numbers.map(String.init).joined(separator: ",")
  }

  /// The rows that are listed for these.
  private static func sorted(
    _ numbers: [Int], _ connection: SQLiteConnection
  ) throws(SQLiteError) -> [Int] {
    var found: [Int] = []
    try connection.run(
      "SELECT DISTINCT ifnull(cover, number) FROM image WHERE number IN (\(list(numbers)))"
    ) { found.append($0.integer(0)) }
    return found
  }

  private static func behind(
    _ start: [SQLiteValue], _ numbers: [Int], _ connection: SQLiteConnection
  ) throws(SQLiteError) -> [Int] {
    var found: [Int] = []
    try connection.run(
      "SELECT number FROM image WHERE number IN (\(list(numbers))) AND (shelf, id) > (?, ?) ORDER BY shelf, id",
      start
    ) { found.append($0.integer(0)) }
    return found
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
    mutating func bind(_ connection: SQLiteConnection) throws(SQLiteError) {
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

  /// The first `limit` of them that the index of what is listed comes by.
  private static func walked(
    _ wanted: Wanted, after start: [SQLiteValue], limit: Int, _ connection: SQLiteConnection
  ) throws(SQLiteError) -> [Int] {
    var found: [Int] = []
    var last = start
    var step = limit * 2
    while true {
      var met = 0
      var next = last
      // The whole answer is in the index, which the table's row numbers are part of.
      try connection.run(
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
      step = min(step * 2, 10_000)
    }
  }
}

package import Files
import TileStorage

extension Catalog {
  /// One page of what was found.
  package struct Findings: Sendable {
    /// By id.
    package var entries: [CatalogEntry] = []
    /// Of all pages together.
    package var total = 0
    package var hasMore = false
  }

  /// Found so often, images are met soon on the way through all ids; less often, they are sorted.
  private static let fewest = 2000

  /// Images after `cursor` by id, at most `limit`, that have a word beginning with each of `text`'s in id, title,
  /// caption, creator, date, place or keywords; case and accents do not count.
  package func search(_ text: String, after cursor: String?, limit: Int) throws(StorageError) -> Findings {
    guard let query = SearchWords(text).query else { return Findings() }
    var result = Findings()
    var page: [Int] = []
    try read(isSearch: true) { (connection) throws(SQLiteError) in
      (result, page) = (Findings(), [])
      var numbers: [Int] = []
      try connection.run("SELECT rowid FROM words WHERE words MATCH ?", [.text(query)]) {
        numbers.append($0.integer(0))
      }
      result.total = numbers.count
      page =
        numbers.count <= Self.fewest
        ? try Self.sorted(numbers, after: cursor, connection)
        : try Self.walked(numbers, after: cursor, limit: limit + 1, connection)
      result.hasMore = page.count > limit
      let places = page.prefix(limit).map(String.init).joined(separator: ",")
      try connection.run(
        "SELECT \(CatalogSchema.columns) FROM image WHERE number IN (\(places)) ORDER BY id"
      ) { if let entry = CatalogSchema.entry($0) { result.entries.append(entry) } }
    }
    return result
  }

  private static func sorted(
    _ numbers: [Int], after cursor: String?, _ connection: SQLiteConnection
  ) throws(SQLiteError) -> [Int] {
    var found: [Int] = []
    let list = numbers.map(String.init).joined(separator: ",")
    try connection.run(
      "SELECT number FROM image WHERE number IN (\(list)) AND id > ? ORDER BY id", [.text(cursor ?? "")]
    ) { found.append($0.integer(0)) }
    return found
  }

  /// The first `limit` of `numbers` that the index of ids comes by.
  private static func walked(
    _ numbers: [Int], after cursor: String?, limit: Int, _ connection: SQLiteConnection
  ) throws(SQLiteError) -> [Int] {
    var isWanted = [Bool](repeating: false, count: (numbers.max() ?? 0) + 1)
    for number in numbers { isWanted[number] = true }
    var found: [Int] = []
    var last = cursor ?? ""
    var step = limit * 2
    while true {
      var met = 0
      var next = last
      // The whole answer is in the index of ids, which the table's row numbers are part of.
      try connection.run(
        "SELECT number, id FROM image WHERE id > ? ORDER BY id LIMIT ?", [.text(last), .integer(step)]
      ) { row in
        met += 1
        let number = row.integer(0)
        let isFound = number < isWanted.count && isWanted[number]
        if met == step || isFound, let id = row.text(1) {
          if isFound { found.append(number) }
          next = id
        }
      }
      if found.count >= limit || met < step { return Array(found.prefix(limit)) }
      last = next
      step = min(step * 2, 10_000)
    }
  }
}

import Testing
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratCatalog

/// Searches that find so much that no index is asked for all of it.
@Suite struct FrequentTermsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Images by their numbers, most of them with a word that is often, every thousandth with one that is not; all but the
  /// first 500 with one, and the last tenth with another.
  private func fill(_ kind: DatabaseKind, _ catalog: Catalog, count: Int) throws {
    let terms =
      "CASE n % 20 WHEN 0 THEN 'uncommon' ELSE 'common' END || CASE n % 1000 WHEN 1 THEN ' seldom' ELSE '' END "
      + "|| CASE WHEN n >= 500 THEN ' later' ELSE '' END || CASE WHEN n >= \(count / 10 * 9) THEN ' last' ELSE '' END"
    let search = kind == .sqlite ? terms : "CAST(\(terms) AS tsvector)"
    // Numbers whose natural order is that of their bytes.
    let (id, key) = ("'p' || CAST(1000000 + n AS text)", "'p7' || CAST(1000000 + n AS text)")
    for start in stride(from: 0, to: count, by: 10_000) {
      let series =
        "WITH RECURSIVE row(n) AS (SELECT \(start) UNION ALL SELECT n + 1 FROM row WHERE n < \(start + 9_999))"
      try catalog.write { (connection) throws(SQLError) in
        try connection.run(
          "INSERT INTO image (id, inode, bytes, modified, sidecar, width, height, tile_size, overlap, format, "
            + "generation, item, folder, name_key, shelf, shown, keywords, search) \(series) "
            + "SELECT \(id), 1, 1, 1, 0, 10, 10, 256, 0, 'jpg', 1, \(id), '', \(key), \(key), 'x', '[]', \(search) FROM row"
        )
      }
    }
    guard kind == .postgreSQL else { return }
    // As autovacuum does, sooner or later.
    try catalog.read { (connection) throws(SQLError) in
      try connection.run("SELECT brin_summarize_new_values('searched_pages')")
      try connection.run("ANALYZE image, searched")
    }
  }

  @Test(arguments: DatabaseKind.allCases)
  func `a frequent term is searched in list order, and counted up to a limit`(_ kind: DatabaseKind)
    throws
  {
    let catalog = try kind.catalog(in: folder)
    let count = kind == .sqlite ? 110_000 : 60_000
    try fill(kind, catalog, count: count)
    func ids(_ numbers: some Sequence<Int>) -> [ImageID] { numbers.map { ImageID("p\(1_000_000 + $0)") } }
    func common(_ range: Range<Int>) -> [ImageID] { ids(range.filter { $0 % 20 != 0 }) }
    var found = try catalog.search("comm", after: nil, limit: 38)
    #expect(found.entries.map(\.id) == common(0..<40))
    #expect(found.hasMore && found.total == (kind == .sqlite ? 100_000 : 5_000))
    var cursor = ListCursor(behind: try #require(found.entries.last))
    found = try catalog.search("comm", after: cursor, limit: 38)
    #expect(found.entries.map(\.id) == common(40..<80))
    // To its end.
    let place = ImageID("p\(1_000_000 + count - 21)")
    cursor = ListCursor(key: NaturalOrder.key(place.text), id: place.text)
    found = try catalog.search("common", after: cursor, limit: 50)
    #expect(found.entries.map(\.id) == common(count - 20..<count) && !found.hasMore)
    found = try catalog.search("common seld", after: nil, limit: 3)
    #expect(found.entries.map(\.id) == ids([1, 1001, 2001]) && found.total == count / 1000 && found.hasMore)
    #expect(try catalog.search("common uncommon", after: nil, limit: 3).total == 0)
    // More terms than are searched one by one.
    let many = "c co com comm commo common c co com comm s se sel seld"
    #expect(try catalog.search(many, after: nil, limit: 3).entries.map(\.id) == ids([1, 1001, 2001]))
    #expect(try catalog.search(many + " uncommon", after: nil, limit: 3).total == 0)
  }

  @Test(arguments: DatabaseKind.allCases)
  func `frequent terms far down the list are found in order, also after a change`(
    _ kind: DatabaseKind
  )
    throws
  {
    let catalog = try kind.catalog(in: folder)
    let count = kind == .sqlite ? 110_000 : 60_000
    try fill(kind, catalog, count: count)
    func ids(_ numbers: Range<Int>) -> [ImageID] { numbers.map { ImageID("p\(1_000_000 + $0)") } }
    let first = count / 10 * 9
    for (word, start) in [("last", first), ("later", 500), ("las", first)] {
      var found = try catalog.search(word, after: nil, limit: 3)
      #expect(found.entries.map(\.id) == ids(start..<start + 3) && found.hasMore, "\(word)")
      #expect(found.total == min(count - start, kind == .sqlite ? 100_000 : 5_000), "\(word)")
      found = try catalog.search(word, after: ListCursor(behind: try #require(found.entries.last)), limit: 2)
      #expect(found.entries.map(\.id) == ids(start + 3..<start + 5), "\(word)")
    }
    try catalog.update([], removing: ids(first..<first + 2).map(\.text))
    #expect(try catalog.search("last", after: nil, limit: 2).entries.map(\.id) == ids(first + 2..<first + 4))
    // To its end.
    let place = ids(count - 3..<count - 2)[0]
    let cursor = ListCursor(key: NaturalOrder.key(place.text), id: place.text)
    let found = try catalog.search("last", after: cursor, limit: 5)
    #expect(found.entries.map(\.id) == ids(count - 2..<count) && !found.hasMore)
    // What comes in front of all, and is written behind them.
    let front = CatalogTests.entry("a", ImageMetadata(title: "last"))
    try catalog.update([front], removing: [])
    #expect(
      try catalog.search("last", after: nil, limit: 2).entries.map(\.id) == [front.id]
        + ids(first + 2..<first + 3))
    guard kind == .postgreSQL else { return }
    try catalog.read { (connection) throws(SQLError) in
      // Rows are read in pages that hold what is looked for, as long as they lie in the order of the list.
      var scans = 0
      try connection.run("SELECT pg_stat_force_next_flush(), pg_stat_clear_snapshot()")
      try connection.run(
        "SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE indexrelname = 'searched_pages'"
      ) {
        scans = $0.integer(0)
      }
      #expect(scans > 0)
    }
  }

  @Test func `rows stored in random order are found in list order`() throws {
    let catalog = try DatabaseKind.postgreSQL.catalog(in: folder)
    let count = 60_000
    try fill(.postgreSQL, catalog, count: count)
    try catalog.write { (connection) throws(SQLError) in
      try connection.run("CREATE TABLE mixed AS SELECT * FROM searched ORDER BY md5(id)")
      try connection.run("TRUNCATE searched")
      try connection.run("INSERT INTO searched SELECT * FROM mixed")
    }
    try catalog.read { (connection) throws(SQLError) in try connection.run("ANALYZE searched") }
    let first = count / 10 * 9
    let found = try catalog.search("last", after: nil, limit: 3)
    #expect(found.entries.map(\.id.text) == (first..<first + 3).map { "p\(1_000_000 + $0)" })
  }

  @Test func `row numbers that are unused after deletions are not counted`() throws {
    let catalog = try DatabaseKind.sqlite.catalog(in: folder)
    try fill(.sqlite, catalog, count: 110_000)
    try catalog.write { (connection) throws(SQLError) in
      try connection.run("DELETE FROM image WHERE number % 8 = 0 OR number BETWEEN 90000 AND 95000")
    }
    var left = 0
    try catalog.read { (connection) throws(SQLError) in
      try connection.run("SELECT count(*) FROM image WHERE search LIKE 'common%'") { left = $0.integer(0) }
    }
    let found = try catalog.search("c", after: nil, limit: 10)
    #expect(left < 100_000 && found.total == left)
  }

  @Test(arguments: [
    [
      "a", "ab", "Äb", "b", "ß", "é", "e\u{301}", "木", "橋", "7", "70", "-", " ", " ", ".", "'", "\u{2060}",
      "ﬁ", "İ", "_",
    ],
    (0x01...0x7f).map { String(UnicodeScalar($0)) },
    ["A", "a", "Z", "z", "0", "9", "/", ":", "@", "[", "`", "{", "\u{10}", "P"],
  ])
  func `a search by the index and a search of the metadata find the same images`(_ parts: [String]) throws {
    let catalog = try DatabaseKind.sqlite.catalog(in: folder)
    var random = SplitMix(SplitMix.runSeed)
    func text(_ count: Int) -> String {
      (0..<count).map { _ in parts[random.below(parts.count)] }.joined()
    }
    let entries = (0..<300).map { number in
      CatalogTests.entry(ImageID("i\(number)"), ImageMetadata(title: text(8), caption: text(6)))
    }
    try catalog.update(entries, removing: [])
    for _ in 0..<400 {
      let query = text(1 + random.below(4))
      let search = SearchTerms(query)
      guard !search.isEmpty else { continue }
      let wanted = WantedTerms(search)
      let expected = Set(entries.filter { wanted.areIn([$0.searchText]) }.map(\.id))
      #expect(
        try Set(catalog.search(query, after: nil, limit: 1000).entries.map(\.id)) == expected,
        "'\(query)', seed \(SplitMix.runSeed)")
    }
  }

  @Test(arguments: DatabaseKind.allCases)
  func `a book with very many matching pages is found once, by its cover`(_ kind: DatabaseKind) throws {
    let catalog = try kind.catalog(in: folder)
    // So many that a sample is asked.
    let count = kind == .sqlite ? 20_000 : 60_000
    try fill(kind, catalog, count: count)
    // As many a statement as a slow machine changes before the statement's time is over.
    for start in stride(from: 0, to: count, by: 5000) {
      let some = "id >= 'p\(1_000_000 + start)' AND id < 'p\(1_000_000 + start + 5000)'"
      try catalog.write { (connection) throws(SQLError) in
        try connection.run(
          "UPDATE image SET cover = (SELECT min(number) FROM image), book = 'book', item = 'book', "
            + "shelf = CASE id WHEN 'p1000000' THEN shelf END, pages = CASE id WHEN 'p1000000' THEN 60000 END "
            + "WHERE \(some)")
      }
    }
    for word in ["common", "uncommon", "seldom"] {
      let found = try catalog.search(word, after: nil, limit: 10)
      #expect(found.entries.map(\.id) == ["p1000000"] && found.total == 1 && !found.hasMore, "\(word)")
    }
  }
}

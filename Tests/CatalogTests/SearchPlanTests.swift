import Testing
import TileStorage
import ZigguratTestSupport

@testable import ZigguratCatalog

/// Searches in folders and in all orders of very many images. Frequent or clustered terms are not looked up for all
/// images.
@Suite struct SearchPlanTests {
  private let folder: TemporaryFolder
  private static let count = 60_000

  init() throws { folder = try TemporaryFolder() }

  private struct Row {
    let id, key: String
    let date: String?
    let shown: String
    let size: Int
    /// The terms of `vocabulary` that it has, a bit for each.
    let terms: Int
    let isBig: Bool
    static let vocabulary = ["common", "third", "seldom", "late", "last"]

    init(_ number: Int) {
      let place = number < 25_000 ? "big" : String(UnicodeScalar(UInt8(97 + number % 26)))
      (id, key) = ("\(place)/p\(1_000_000 + number)", "\(place)/p7\(1_000_000 + number)")
      date = number % 3 == 0 ? nil : "\(1800 + number * 7919 % 200)"
      shown = "t\(10_000 + number * 1047 % 5000)"
      size = 10 * (10 + number * 31 % 977)
      isBig = number < 25_000
      let has = [
        number % 20 != 0, number % 3 == 1, number % 1000 == 1, (20_000..<25_000).contains(number),
        number == 59_999,
      ]
      terms = has.enumerated().reduce(0) { $0 | ($1.element ? 1 << $1.offset : 0) }
    }

    /// Returns its sort key.
    func place(_ key: ListOrder.Key) -> String? {
      switch key {
      case .name: self.key
      case .date: date
      case .title: shown
      default: "\(100_000 + size)"
      }
    }
  }

  /// The same in SQL, as they are written there.
  private func fill(_ kind: DatabaseKind, _ catalog: Catalog) throws {
    let letter = kind == .sqlite ? "char" : "chr"
    let place = "CASE WHEN n < 25000 THEN 'big' ELSE \(letter)(97 + n % 26) END"
    let id = "\(place) || '/p' || CAST(1000000 + n AS text)"
    let key = "\(place) || '/p7' || CAST(1000000 + n AS text)"
    let terms =
      "'x' || CASE WHEN n % 20 <> 0 THEN ' common' ELSE '' END || CASE WHEN n % 3 = 1 THEN ' third' ELSE '' END "
      + "|| CASE WHEN n % 1000 = 1 THEN ' seldom' ELSE '' END "
      + "|| CASE WHEN n >= 20000 AND n < 25000 THEN ' late' ELSE '' END || CASE WHEN n = 59999 THEN ' last' ELSE '' END"
    for start in stride(from: 0, to: Self.count, by: 10_000) {
      try catalog.write { (connection) throws(SQLError) in
        try connection.run(
          "INSERT INTO image (id, inode, bytes, modified, sidecar, width, height, tile_size, overlap, format, generation, "
            + "item, folder, name_key, shelf, shown, date, keywords, search) "
            + "WITH RECURSIVE row(n) AS (SELECT \(start) UNION ALL SELECT n + 1 FROM row WHERE n < \(start + 9_999)) "
            + "SELECT \(id), 1, 1, 1, 0, 10 + n * 31 % 977, 10, 256, 0, 'jpg', 1, \(id), '', \(key), \(key), "
            + "'t' || CAST(10000 + n * 1047 % 5000 AS text), "
            + "CASE WHEN n % 3 = 0 THEN NULL ELSE CAST(1800 + n * 7919 % 200 AS text) END, '[]', "
            + (kind == .sqlite ? terms : "CAST(\(terms) AS tsvector)") + " FROM row")
      }
    }
    guard kind == .postgreSQL else { return }
    try catalog.read { (connection) throws(SQLError) in try connection.run("ANALYZE image, searched") }
  }

  @Test(arguments: DatabaseKind.allCases)
  func `a list has the same images as a check of each image`(_ kind: DatabaseKind) throws {
    let catalog = try kind.catalog(in: folder)
    try fill(kind, catalog)
    let rows = (0..<Self.count).map(Row.init)
    let scopes: [(ListScope, String)] = [
      (.items, ""), (.folder("big"), "big/"), (.folder("c"), "c/"), (.folder("none"), "none/"),
    ]
    for name in ["name", "-name", "date", "-date", "title", "-size"] {
      let order = try #require(ListOrder(name))
      let sorted = rows.map { ($0, $0.place(order.key)) }.sorted { one, other in
        if one.1 == other.1 {
          return order == ListOrder("-name") ? one.0.key > other.0.key : one.0.key < other.0.key
        }
        guard let left = one.1, let right = other.1 else { return one.1 != nil }
        return order.isDescending ? left > right : left < right
      }.map(\.0)
      for (scope, prefix) in scopes {
        // For the largest folder, a flag replaces the comparison of millions of texts.
        let listed = sorted.filter {
          prefix.isEmpty || (prefix == "big/" ? $0.isBig : !$0.isBig && $0.id.hasPrefix(prefix))
        }
        for text in ["common", "third", "seldom", "late", "last", "common third", "com la", "nothing"] {
          let wanted = text.split(separator: " ").map { word in
            Row.vocabulary.enumerated().reduce(0) { $0 | ($1.element.hasPrefix(word) ? 1 << $1.offset : 0) }
          }
          var expected: [String] = []
          for row in listed where wanted.allSatisfy({ $0 & row.terms != 0 }) { expected.append(row.id) }
          var (found, cursor): ([String], String?) = ([], nil)
          for _ in 0..<3 {
            let page = try catalog.list(scope, by: order, after: cursor, limit: 37, containing: text)
            found += page.entries.map(\.id.text)
            let isCounted = page.total == expected.count || min(page.total, expected.count) >= 5_000
            #expect(isCounted, "\(name) \(scope) \(text): \(page.total), not \(expected.count)")
            cursor = page.next
            if cursor == nil { break }
          }
          #expect(found == Array(expected.prefix(3 * 37)), "\(name) \(scope) \(text)")
          #expect((cursor == nil) == (expected.count <= 3 * 37))
        }
      }
    }
  }
}

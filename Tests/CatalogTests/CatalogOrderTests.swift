import Glibc
import Testing
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratCatalog

/// Lists in their orders, page by page.
@Suite struct CatalogOrderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static var orders: [ListOrder] {
    ListOrder.Key.allCases.flatMap { key in [false, true].map { ListOrder(key: key, isDescending: $0) } }
  }

  /// Many of which are level in what they are sorted by, or have nothing of it.
  private static var entries: [CatalogEntry] {
    var random = SplitMix(SplitMix.runSeed)
    return (0..<120).map { number in
      let place = ["", "f/", "f/g/", "01/", "1/"][random.below(5)]
      var entry = CatalogTests.entry(ImageID("\(place)i\(number)"), inode: number)
      entry.metadata.title = ["One", "two", "Two", nil][random.below(4)]
      entry.metadata.date = ["1900", "1900-05", "2020-01-01", nil, nil][random.below(5)]
      let side = [100, 200, 300][random.below(3)]
      entry.pyramid = Pyramid(imageSize: PixelSize(width: side, height: 200)!, tileSize: 256)
      entry.fileVersion = FileVersion(inode: number, size: 2, modified: random.below(5), sidecar: 0)
      if random.below(3) == 0 {
        let book = ImageID("f/book\(random.below(3))")
        entry.id = ImageID("\(book)/\(number)")
        entry.book = book
      }
      return entry
    }
  }

  /// Returns the pages of each order and scope.
  private func lists(_ catalog: Catalog) throws -> [String] {
    var lists: [String] = []
    for order in Self.orders {
      for scope in [ListScope.items, .folder("f"), .folder("1"), .book("f/book1")] {
        let whole = try catalog.list(scope, by: order, after: nil, limit: 1000)
        #expect(whole.next == nil && whole.total == whole.entries.count)
        var (ids, cursor): ([ImageID], String?) = ([], nil)
        repeat {
          let page = try catalog.list(scope, by: order, after: cursor, limit: 7)
          ids += page.entries.map(\.id)
          cursor = page.next
        } while cursor != nil
        #expect(ids == whole.entries.map(\.id), "\(order) \(scope), seed \(SplitMix.runSeed)")
        lists.append("\(order) \(scope): \(ids)")
      }
    }
    return lists
  }

  @Test func `pages are parts of the list in every order and scope, alike in both databases`()
    throws
  {
    let entries = Self.entries
    let found = try DatabaseKind.allCases.map { kind in
      let catalog = try kind.catalog(in: folder)
      try catalog.update(entries, removing: [])
      return try lists(catalog)
    }
    #expect(found[0] == found[1], "seed \(SplitMix.runSeed)")
  }

  /// An order that somebody has used of very many images has an index then, in which nothing is sorted.
  @Test func `indexes for sorting change no list`() throws {
    let catalog = try DatabaseKind.sqlite.catalog(in: folder)
    try catalog.update(Self.entries, removing: [])
    let before = try lists(catalog)
    #expect(try indexes(catalog).isEmpty)
    let orders = Self.orders.filter { $0.key != .name }
    for order in orders + orders { catalog.database.isListed(by: order) }
    let end = ContinuousClock.now + .seconds(60)
    while try indexes(catalog).count < orders.count, .now < end { usleep(10_000) }
    #expect(try indexes(catalog).count == orders.count)
    #expect(try lists(catalog) == before, "seed \(SplitMix.runSeed)")
    for order in orders {
      let key = order.expression(in: .items)
      let way = order.isDescending ? "DESC" : "ASC"
      #expect(
        try texts(
          catalog,
          "EXPLAIN QUERY PLAN SELECT id, title FROM image WHERE shelf IS NOT NULL AND \(key) IS NOT NULL "
            + "ORDER BY \(key) \(way), name_key, id", column: 3)
          == ["SCAN image USING INDEX image_by_\(order.key)_\(way)"])
    }
    // What is written later is in them.
    try catalog.update([CatalogTests.entry("aaa", ImageMetadata(title: "!"))], removing: [])
    let first = try catalog.list(by: ListOrder(key: .title, isDescending: false), after: nil, limit: 1)
    #expect(first.entries.map(\.id) == ["aaa"])
  }

  private func indexes(_ catalog: Catalog) throws -> [String] {
    try texts(catalog, "SELECT name FROM sqlite_master WHERE name LIKE 'image_by_%'", column: 0)
  }

  private func texts(_ catalog: Catalog, _ sql: String, column: Int32) throws -> [String] {
    var texts: [String] = []
    try catalog.read { (connection) throws(SQLError) in
      texts = []
      try connection.run(sql) { texts.append($0.text(column) ?? "") }
    }
    return texts
  }
}

import Files
import TestSupport
import Testing
import TileGeometry
import TileStorage

@testable import Catalog

/// Lists in their orders, page by page.
@Suite struct OrderTests {
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
      entry.stamp = FileStamp(inode: number, size: 2, modified: random.below(5), sidecar: 0)
      if random.below(3) == 0 {
        let book = ImageID("f/book\(random.below(3))")
        entry.id = ImageID("\(book)/\(number)")
        entry.book = book
      }
      return entry
    }
  }

  @Test func `pages are parts of the whole, in every order and scope, and both databases have the same`()
    throws
  {
    let entries = Self.entries
    var lists: [[String]] = []
    for kind in DatabaseKind.allCases {
      let catalog = try kind.catalog(in: folder)
      try catalog.update(entries, removing: [])
      var list: [String] = []
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
          list.append("\(order) \(scope): \(ids)")
        }
      }
      lists.append(list)
    }
    #expect(lists[0] == lists[1], "seed \(SplitMix.runSeed)")
  }
}

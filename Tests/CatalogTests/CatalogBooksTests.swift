import Foundation
import Testing
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratCatalog

/// Lists of books: each book once, by its first page, and its pages in order.
@Suite struct CatalogBooksTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func catalog(_ kind: DatabaseKind) throws -> Catalog { try kind.catalog(in: folder) }

  private static func page(_ id: ImageID, of book: ImageID, _ title: String? = nil) -> CatalogEntry {
    var entry = CatalogTests.entry(id, ImageMetadata(title: title))
    entry.book = book
    return entry
  }

  private func items(_ catalog: Catalog) throws -> [String] {
    try catalog.list(after: nil, limit: 1000).entries.map {
      "\($0.book ?? $0.id) \($0.id) \($0.cover.map { "\($0.pages) \($0.title ?? "-")" } ?? "")"
    }
  }

  @Test(
    "the first page is always the cover, and a title that all pages share is the book's",
    arguments: DatabaseKind.allCases)
  func covers(_ kind: DatabaseKind) throws {
    let catalog = try catalog(kind)
    try catalog.update([Self.page("b/10", of: "b", "Hours"), CatalogTests.entry("b-a")], removing: [])
    #expect(try items(catalog) == ["b b/10 1 Hours", "b-a b-a "])
    try catalog.update(
      [Self.page("b/9", of: "b", "Hours"), Self.page("b/11", of: "b", "Hours")], removing: [])
    #expect(try items(catalog) == ["b b/9 3 Hours", "b-a b-a "])
    #expect(try catalog.pages(ofBook: "b").map(\.id) == ["b/9", "b/10", "b/11"])
    #expect(try catalog.pages(ofBook: "b").map(\.page) == [1, 2, 3])
    #expect(try catalog.number(ofPage: "b/10", in: "b") == 2)
    #expect(try catalog.numbers(ofBook: "b") == ["b/9": 1, "b/10": 2, "b/11": 3])
    try catalog.update([Self.page("b/11", of: "b", "Index")], removing: ["b/9"])
    #expect(try items(catalog) == ["b b/10 2 -", "b-a b-a "])
    #expect(try catalog.cover(ofBook: "b")?.id == "b/10" && catalog.cover(ofBook: "c") == nil)
    // A page that cannot be read any more is none.
    try catalog.update([CatalogEntry(unreadable: "b/10", fileVersion: .unset)], removing: [])
    #expect(try items(catalog) == ["b b/11 1 Index", "b-a b-a "])
    #expect(
      try catalog.itemCount(in: nil) == 2
        && catalog.items(in: nil, from: 0, limit: 9).map(\.title) == ["Index", nil])
    try catalog.update([], removing: ["b/11"])
    #expect(try items(catalog) == ["b-a b-a "])
    #expect(try catalog.itemCount(in: nil) == 1)
  }

  @Test(
    "every order, scope and search lists the images of a plain computation, in pages of any length",
    arguments: DatabaseKind.allCases)
  func everyListing(_ kind: DatabaseKind) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed)
    let catalog = try catalog(kind)
    var entries: [ImageID: CatalogEntry] = [:]
    for _ in 0..<400 {
      let name = (0...random.below(2)).map { _ in random.pick(["a", "1", "2", "10", "01", "a9"]) }.joined(
        separator: "/")
      var entry = CatalogTests.entry(
        ImageID(name)!, ImageMetadata(title: random.pick(["quay", "harbour", "quay"])))
      if let book = entry.id.folder, random.below(3) > 0 { entry.book = book }
      if random.below(9) == 0 { entry = CatalogEntry(unreadable: entry.id, fileVersion: entry.fileVersion) }
      entries[entry.id] = entry
    }
    // In another order, some twice, some gone again.
    let all = Array(entries.values)
    try catalog.update(all, removing: [])
    try catalog.update(Array(all.prefix(9)), removing: all.suffix(9).map(\.id.text))
    for entry in all.suffix(9) { entries[entry.id] = nil }
    let readable = entries.values.filter { $0.pyramid != nil }
    let books = Dictionary(grouping: readable.filter { $0.book != nil }, by: { $0.book! })
      .mapValues { $0.map(\.id).sorted() }
    struct Item: Hashable { let item, id: ImageID }
    func listed(_ isFound: (CatalogEntry) -> Bool) -> [Item] {
      let found = Set(
        readable.filter(isFound).map {
          Item(item: $0.book ?? $0.id, id: $0.book.map { books[$0]![0] } ?? $0.id)
        })
      // By the item as a book's id, then by the image's.
      return found.sorted {
        let (one, other) = (NaturalOrder.key($0.item.text), NaturalOrder.key($1.item.text))
        return one == other
          ? $0.id.text.utf8.lexicographicallyPrecedes($1.id.text.utf8)
          : one.utf8.lexicographicallyPrecedes(other.utf8)
      }
    }
    func ids(_ list: (String?) throws -> (entries: [CatalogEntry], total: Int, next: String?)) throws
      -> [ImageID]
    {
      var (ids, cursor): ([ImageID], String?) = ([], nil)
      var total = 0
      repeat {
        let page = try list(cursor)
        ids += page.entries.map(\.id)
        (cursor, total) = (page.next, page.total)
      } while cursor != nil
      #expect(ids.count == total, "seed \(seed)")
      return ids
    }
    for limit in [1, 7, 1000] {
      for text in [nil, "quay"] {
        let isFound: (CatalogEntry) -> Bool = { text == nil || $0.metadata.title == text }
        func list(_ scope: ListScope, _ order: ListOrder = .standard) throws -> [ImageID] {
          try ids {
            let page = try catalog.list(scope, by: order, after: $0, limit: limit, containing: text)
            return (page.entries, page.total, page.next)
          }
        }
        #expect(try list(.items) == listed(isFound).map(\.id), "seed \(seed)")
        for folder in ["a", "1", "01", "a/1"] as [ImageID] {
          let expected = listed(isFound).filter { $0.item.isBelow(folder) }.map(\.id)
          #expect(try list(.folder(folder)) == expected, "seed \(seed)")
        }
        for (book, pages) in books {
          let expected = pages.filter { isFound(entries[$0]!) }
          #expect(try list(.book(book)) == expected, "seed \(seed)")
          #expect(try list(.book(book), ListOrder("-name")!) == expected.reversed(), "seed \(seed)")
        }
        if let text {
          let found = try ids {
            let page = try catalog.search(text, after: $0.flatMap(ListCursor.init), limit: limit)
            return (
              page.entries, page.total,
              page.hasMore ? page.entries.last.map { ListCursor(behind: $0).text } : nil
            )
          }
          #expect(found == listed(isFound).map(\.id), "seed \(seed)")
        }
      }
    }
  }

  @Test("a search that finds very many pages lists each book once", arguments: DatabaseKind.allCases)
  func manyPages(_ kind: DatabaseKind) throws {
    let catalog = try catalog(kind)
    let pages = (0..<5000).map {
      Self.page("vol\($0 % 7)/f\($0)" as ImageID, of: "vol\($0 % 7)" as ImageID, "leaf \($0)")
    }
    try catalog.update(pages, removing: [])
    try catalog.update([CatalogTests.entry("vol3a", ImageMetadata(title: "leaf"))], removing: [])
    let found = try catalog.search("leaf", after: nil, limit: 5)
    #expect(found.total == 8 && found.hasMore)
    #expect(found.entries.map(\.id) == ["vol0/f0", "vol1/f1", "vol2/f2", "vol3/f3", "vol3a"])
    let rest = try catalog.search("leaf", after: ListCursor(behind: found.entries[4]), limit: 5)
    #expect(rest.entries.map(\.id) == ["vol4/f4", "vol5/f5", "vol6/f6"] && !rest.hasMore)
    #expect(rest.entries.map(\.cover?.pages) == [714, 714, 714])
  }
}

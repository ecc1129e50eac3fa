import Testing
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratCatalog

/// The contract of a catalog, in either database.
@Suite struct CatalogTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ kind: DatabaseKind) throws -> Catalog { try kind.catalog(in: folder) }

  static func entry(_ id: ImageID, _ metadata: ImageMetadata = ImageMetadata(), inode: Int = 1)
    -> CatalogEntry
  {
    var entry = CatalogEntry(
      unreadable: id, fileVersion: FileVersion(inode: inode, size: 2, modified: 3, sidecar: 4))
    entry.pyramid = Pyramid(imageSize: PixelSize(width: 300, height: 200)!, tileSize: 256)
    (entry.format, entry.generation, entry.metadata, entry.bytes) = ("jpg", .max - 1, metadata, 999)
    return entry
  }

  private func found(_ catalog: Catalog, _ text: String) throws -> [ImageID] {
    try catalog.search(text, after: nil, limit: 1000).entries.map(\.id)
  }

  @Test(arguments: DatabaseKind.allCases) func `entries are read as they were written`(_ kind: DatabaseKind)
    throws
  {
    let metadata = ImageMetadata(
      title: "Tïtle", caption: "two\nlines", creators: ["A; B"], date: "2024-05-01", place: "Porto",
      rights: "©", keywords: ["a, b", "\"", ""])
    var entry = Self.entry("some/image/2", metadata)
    (entry.page, entry.micronsPerPixel, entry.sourceDigest) = (2, 0.25, "digest")
    (entry.book, entry.label) = ("some/image", "ii")
    entry.cover = CatalogEntry.Cover(pages: 1, title: "Tïtle")
    let catalog = try open(kind)
    try catalog.update(
      [entry, CatalogEntry(unreadable: "broken", fileVersion: entry.fileVersion)], removing: [])
    #expect(try catalog.entries(["some/image/2", "none"]) == [entry])
    entry.metadata.titles = ["de": "Titel"]
    (entry.metadata.creators, entry.metadata.license) = (["A", "B"], "https://example.org/by")
    try catalog.update([entry], removing: [])
    #expect(try catalog.entries(["some/image/2", "none"]) == [entry])
    #expect(try catalog.entries(["broken"]).map(\.pyramid) == [nil])
    #expect(try catalog.unreadableCount() == 1)
    #expect(try catalog.pages(ofBook: "some/image") == [entry])
    #expect(try catalog.entries(madeFrom: "digest") == [entry])
    #expect(try catalog.entries(madeFrom: "").isEmpty)
    #expect(try found(catalog, "broken").isEmpty)
    // Another process, later.
    #expect(try open(kind).entries(["some/image/2"]) == [entry])
  }

  @Test(arguments: DatabaseKind.allCases) func `replaced and removed entries change the search index`(
    _ kind: DatabaseKind
  ) throws {
    let catalog = try open(kind)
    try catalog.update([Self.entry("one", ImageMetadata(title: "Harbour")), Self.entry("two")], removing: [])
    #expect(try found(catalog, "harbour") == ["one"])
    try catalog.update([Self.entry("one", ImageMetadata(title: "Quay"), inode: 9)], removing: [])
    #expect(try found(catalog, "harbour").isEmpty)
    #expect(try found(catalog, "quay") == ["one"])
    #expect(try catalog.entries(["one"]).map(\.fileVersion.inode) == [9])
    try catalog.update([], removing: ["one", "never"])
    #expect(try found(catalog, "quay").isEmpty)
    #expect(try found(catalog, "two") == ["two"])
  }

  @Test(
    arguments: DatabaseKind.allCases,
    [
      ("NIGHT", ["a/night watch"]), ("nig wat", ["a/night watch"]), ("atch", []),
      ("nachtw", ["a/night watch"]),
      ("dü", ["b"]), ("DURER", ["b"]), ("hase 1502", ["b"]), ("nuremberg", ["b"]), ("橋", ["c"]),
      ("木橋", ["c"]),
      ("橋木", []), ("ab", []), ("a-b", ["c"]), ("b-a", []), ("watch OR hare", []), ("", []), ("\"", []),
      ("title:night", []), ("night*", ["a/night watch"]), ("(", []), ("^night", ["a/night watch"]),
      ("night NOT watch", []), ("NEAR(night watch)", []), ("'; DROP TABLE image --", []), ("\u{0}", []),
      ("\u{301}", []), ("💥", []), ("night \u{0} watch", ["a/night watch"]),
      ("\u{202e}night", ["a/night watch"]),
    ] as [(String, [ImageID])])
  func `a search finds the images that have all its terms`(
    _ kind: DatabaseKind, _ search: (text: String, expected: [ImageID])
  ) throws {
    let catalog = try open(kind)
    try catalog.update(
      [
        Self.entry("a/night watch", ImageMetadata(title: "De Nachtwacht")),
        Self.entry(
          "b", ImageMetadata(caption: "Hase, 1502", creators: ["Albrecht Dürer"], place: "Nuremberg")),
        Self.entry("c", ImageMetadata(keywords: ["太鼓木橋", "a-b"])),
      ], removing: [])
    #expect(try found(catalog, search.text) == search.expected)
  }

  @Test(arguments: DatabaseKind.allCases) func `no search text is a syntax error`(_ kind: DatabaseKind) throws
  {
    let catalog = try open(kind)
    try catalog.update([Self.entry("image")], removing: [])
    var random = SplitMix(7)
    let pieces = [
      "\"", "'", "*", "(", ")", "AND", "OR", "NOT", "NEAR", ":", "^", "+", "-", "{", "}", ",", "\u{0}", " ",
      "image", "é", "\u{301}", "橋", "ๆ", "ี", "①", "\u{2060}", "\\", "%", "_", "/", "\u{feff}", "🇩🇪",
    ]
    for _ in 0..<3000 {
      let text = (0...random.below(8)).map { _ in random.pick(pieces) }
        .joined()
      #expect(throws: Never.self) { try catalog.search(text, after: nil, limit: 2) }
    }
    _ = try catalog.search(String(repeating: "image ", count: 10_000), after: nil, limit: 2)
  }

  /// The few that are sorted and the many that are met on the way through all ids come in the same order.
  @Test(arguments: DatabaseKind.allCases, [1, 7, 100]) func `pages list each image once, in order`(
    _ kind: DatabaseKind, _ limit: Int
  ) throws {
    let catalog = try open(kind)
    // Rows in another order than ids.
    let ids = (0..<5000).map { "\(($0 * 3677) % 5000)/x" as ImageID }
    let entries = ids.enumerated().map { number, id in
      Self.entry(id, ImageMetadata(title: number % 2 == 0 ? "even many" : number % 50 == 1 ? "few" : "many"))
    }
    try catalog.update(entries, removing: [])
    for word in limit == 1 ? ["few"] : ["few", "many"] {
      let expected = entries.filter { $0.metadata.title!.contains(word) }.map(\.id).sorted()
      var (got, cursor): ([ImageID], ListCursor?) = ([], nil)
      repeat {
        let page = try catalog.search(word, after: cursor, limit: limit)
        #expect(page.total == expected.count)
        #expect(page.entries.count <= limit)
        got += page.entries.map(\.id)
        cursor = page.hasMore ? page.entries.last.map(ListCursor.init(behind:)) : nil
      } while cursor != nil
      #expect(got == expected)
    }
  }

  @Test(arguments: DatabaseKind.allCases) func `invalid rows of an untrusted file are not listed`(
    _ kind: DatabaseKind
  ) throws {
    let catalog = try open(kind)
    try catalog.update([Self.entry("a"), Self.entry("b", ImageMetadata(title: "Quay"))], removing: [])
    try catalog.write { (connection) throws(SQLError) in
      try connection.run(
        "UPDATE image SET id = '../b', item = '../b', shelf = '../b', digest = 'd' WHERE id = 'b'")
    }
    #expect(try found(catalog, "quay").isEmpty)
    #expect(try catalog.entries(madeFrom: "d").isEmpty)
    #expect(try catalog.items(in: nil, from: 0, limit: 10).map(\.id) == ["a"])
    // An update of the catalog from the folders finds the row by its id, and removes it.
    var ids: [String] = []
    try catalog.forEachFileVersion { id, _ in ids.append(String(decoding: id, as: UTF8.self)) }
    #expect(ids.sorted() == ["../b", "a"])
    try catalog.update([], removing: ["../b"])
    #expect(try catalog.itemCount(in: nil) == 1)
  }

  @Test(arguments: DatabaseKind.allCases) func `folders and items are listed by their parent folder`(
    _ kind: DatabaseKind
  ) throws {
    let catalog = try open(kind)
    let ids: [ImageID] = [
      "a", "a/b", "a/c/d", "a/c/e/f", "a-b/x", "a0/y", "z/y/x/w", "ü/q", "book/1", "book/2", "a/roll/1",
    ]
    var entries = ids.map { Self.entry($0, ImageMetadata(title: $0.text == "book/2" ? "Other" : "Same")) }
    for at in entries.indices where ["1", "2"].contains(entries[at].id.name) {
      entries[at].page = Int(entries[at].id.name)
      entries[at].book = entries[at].id.folder
    }
    try catalog.update(
      entries + [CatalogEntry(unreadable: "broken/one", fileVersion: entries[0].fileVersion)], removing: [])
    #expect(try catalog.folders(in: nil) == ["a", "a-b", "a0", "z", "ü"])
    #expect(try catalog.folders(in: "a") == ["a/c"])
    #expect(try catalog.folders(in: "z") == ["z/y"])
    #expect(try catalog.folders(in: "ü").isEmpty)
    #expect(try catalog.folders(in: "b").isEmpty)
    let items = try catalog.items(in: nil, from: 0, limit: 10)
    #expect(items.map(\.id) == ["a", "book"])
    #expect(items.map(\.first.id) == ["a", "book/1"])
    #expect(items.map(\.title) == ["Same", nil])
    #expect(try catalog.items(in: nil, from: 1, limit: 10).map(\.id) == ["book"])
    #expect(try catalog.items(in: "a", from: 0, limit: 10).map(\.id) == ["a/b", "a/roll"])
    #expect(try catalog.items(in: "a", from: 0, limit: 1).map(\.id) == ["a/b"])
    #expect(try catalog.items(in: "a", from: 1, limit: 10).map(\.title) == ["Same"])
    #expect(try catalog.itemCount(in: "a") == 2 && catalog.itemCount(in: nil) == 2)
    #expect(try catalog.itemCount(in: "broken") == 0 && catalog.first(below: "broken") == nil)
    #expect(try catalog.first(below: "z")?.id == "z/y/x/w" && catalog.first(below: nil)?.id == "a")
    #expect(try catalog.first(below: "q") == nil)
  }
}

package import TileStorage
package import ZigguratFiles

/// Books: images whose ids consist of the book's id and the name of the page. The first page in natural order, or the
/// page that the book's description names, is the cover. Lists show the cover for the book.
extension Catalog {
  /// Returns the pages of a book in order. A page without a number of its own gets its position as the number.
  package func pages(ofBook id: ImageID) throws(StorageError) -> [CatalogEntry] {
    var pages = try entries(Self.pages + " ORDER BY name_key, id", [.text(id.text)])
    for at in pages.indices where pages[at].page == nil { pages[at].page = at + 1 }
    return pages
  }

  /// Returns the first page of a book in reading order, which need not be its cover; nil if there is no such book.
  package func firstPage(ofBook id: ImageID) throws(StorageError) -> CatalogEntry? {
    try entries(Self.pages + " ORDER BY name_key, id LIMIT 1", [.text(id.text)]).first
  }

  package func pageCount(ofBook id: ImageID) throws(StorageError) -> Int {
    try count(Self.pages, [.text(id.text)])
  }

  /// Returns the page that stands for a book; nil if there is no such book.
  package func cover(ofBook id: ImageID) throws(StorageError) -> CatalogEntry? {
    try entries("WHERE item = ? AND book IS NOT NULL AND pages IS NOT NULL", [.text(id.text)]).first
  }

  /// Whether an image or a book has the id.
  package func hasItem(_ id: ImageID) throws(StorageError) -> Bool {
    try count("WHERE id = ? OR item = ? AND pages IS NOT NULL", [.text(id.text), .text(id.text)]) > 0
  }

  /// Returns the number of a page in its book, counted from 1.
  package func number(ofPage id: ImageID, in book: ImageID) throws(StorageError) -> Int {
    try count(
      Self.pages + " AND (name_key, id) <= (?, ?)",
      [.text(book.text), .text(NaturalOrder.key(id.text)), .text(id.text)])
  }

  /// Returns the numbers of all pages of a book, counted from 1.
  package func numbers(ofBook book: ImageID) throws(StorageError) -> [ImageID: Int] {
    let ids = try rows("SELECT id FROM image \(Self.pages) ORDER BY name_key, id", [.text(book.text)]) {
      $0.text(0) ?? ""
    }
    var numbers: [ImageID: Int] = [:]
    for (index, id) in ids.enumerated() { if let id = ImageID(id) { numbers[id] = index + 1 } }
    return numbers
  }

  private static let pages = "WHERE book = ? AND width IS NOT NULL"

  /// Makes a page the cover of a book. The cover stores the number of pages and their common title.
  static func bind(_ book: ImageID, _ connection: any SQLConnection) throws(SQLError) {
    let name = SQLValue.text(book.text)
    var first: Int?
    var said: (title: String?, date: String?, search: String?, cover: String?)
    try connection.run("SELECT title, date, search, cover FROM book WHERE id = ?", [name]) {
      said = ($0.text(0), $0.text(1), $0.text(2), $0.text(3))
    }
    if let cover = said.cover {
      first = try connection.integer(
        "SELECT number FROM image \(pages) AND id = ?", [name, .text("\(book)/\(cover)")])
    }
    // The page with the given number, or else the first page.
    for number in [said.cover.flatMap { Int($0) }, 1] where first == nil {
      guard let number, 1...1_000_000 ~= number else { continue }
      first = try connection.integer(
        "SELECT number FROM image \(pages) ORDER BY name_key, id LIMIT 1 OFFSET ?",
        [name, .integer(number - 1)])
    }
    guard let first else { return }
    try connection.run(
      "UPDATE image SET shelf = NULL, pages = NULL, common = NULL, "
        + "book_search = NULL, book_shown = NULL, book_date = NULL \(pages) AND cover = number AND number != ?",
      [name, .integer(first)])
    try connection.run(
      "UPDATE image SET cover = ? \(pages) AND cover IS DISTINCT FROM ?",
      [.integer(first), name, .integer(first)])
    var (count, common): (Int, String?) = (0, nil)
    try connection.run(
      "SELECT count(*), CASE WHEN count(title) = count(*) AND min(title) = max(title) THEN min(title) END "
        + "FROM image \(pages)", [name]
    ) { (count, common) = ($0.integer(0), $0.text(1)) }
    try connection.run(
      "UPDATE image SET shelf = ?, pages = ?, common = ?, book_search = ?, book_shown = ?, book_date = ? "
        + "WHERE number = ?",
      [
        .text(NaturalOrder.key(book.text)), .integer(count), SQLValue(common), SQLValue(said.search),
        .text(CatalogEntry.key(ofShown: said.title ?? common ?? book.name)), SQLValue(said.date),
        .integer(first),
      ])
  }

  /// The description of a book as a whole.
  package struct BookMetadata: Sendable {
    package let id: ImageID
    /// A value that differs for every version of the description; 0 if there is none.
    package let fileVersion: Int
    package let metadata: ImageMetadata
    /// The name or the number of the cover page; nil for the first page.
    package let cover: String?

    package init(id: ImageID, fileVersion: Int, metadata: ImageMetadata, cover: String?) {
      self.id = id
      self.fileVersion = fileVersion
      self.metadata = metadata
      self.cover = cover
    }
  }

  /// Returns all books, each with the version of its stored description.
  package func bookVersions() throws(StorageError) -> [ImageID: Int] {
    let fileVersions = try rows(
      "SELECT item, book.stamp FROM image LEFT JOIN book ON book.id = item WHERE image.pages IS NOT NULL"
    ) { row in row.id(0).map { ($0, row.integer(1)) } }
    return Dictionary(fileVersions) { $1 }
  }

  /// Stores the descriptions of books.
  package func describe(_ books: [BookMetadata]) throws(StorageError) {
    guard !books.isEmpty else { return }
    try write { (connection) throws(SQLError) in
      try connection.run("DELETE FROM book WHERE id NOT IN (SELECT item FROM image WHERE pages IS NOT NULL)")
      try connection.runEach(
        "INSERT INTO book (id, stamp, title, date, search, cover) VALUES (?, ?, ?, ?, ?, ?) "
          + "ON CONFLICT (id) DO UPDATE SET "
          + "stamp = excluded.stamp, title = excluded.title, date = excluded.date, search = excluded.search, cover = excluded.cover",
        books.map { book in
          let search =
            book.metadata.isEmpty ? SQLValue.null : .searchText(SearchTerms.text(of: book.id, book.metadata))
          return [
            .text(book.id.text), .integer(book.fileVersion), SQLValue(book.metadata.title),
            SQLValue(CatalogSchema.sortable(book.metadata.date)), search,
            SQLValue(book.cover),
          ]
        })
      for book in books { try Self.bind(book.id, connection) }
    }
  }
}

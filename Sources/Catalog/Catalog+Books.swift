package import Files
import TileStorage

/// Books: images whose ids are those of the book and what a page is called. The first page in natural order is the
/// book's cover, which is listed in its place.
extension Catalog {
  /// The pages of a book in order, numbered by it where they have no numbers of their own.
  package func pages(ofBook id: ImageID) throws(StorageError) -> [CatalogEntry] {
    var pages = try entries(Self.pages + " ORDER BY natural, id", [.text(id.text)])
    for at in pages.indices where pages[at].page == nil { pages[at].page = at + 1 }
    return pages
  }

  package func pageCount(ofBook id: ImageID) throws(StorageError) -> Int {
    try count(Self.pages, [.text(id.text)])
  }

  /// The first page of a book; nil where there is no such book.
  package func cover(ofBook id: ImageID) throws(StorageError) -> CatalogEntry? {
    try entries(Self.pages + " ORDER BY natural, id LIMIT 1", [.text(id.text)]).first
  }

  /// Which page of its book an image is, counted from 1.
  package func number(ofPage id: ImageID, in book: ImageID) throws(StorageError) -> Int {
    try count(
      Self.pages + " AND (natural, id) <= (?, ?)",
      [.text(book.text), .text(NaturalOrder.key(id.text)), .text(id.text)])
  }

  /// The same for every page of a book.
  package func numbers(ofBook book: ImageID) throws(StorageError) -> [ImageID: Int] {
    var numbers: [ImageID: Int] = [:]
    var count = 0
    try read { (connection) throws(SQLiteError) in
      (numbers, count) = ([:], 0)
      try connection.run("SELECT id FROM image \(Self.pages) ORDER BY natural, id", [.text(book.text)]) {
        count += 1
        if let id = $0.id(0) { numbers[id] = count }
      }
    }
    return numbers
  }

  private static let pages = "WHERE book = ? AND width IS NOT NULL"

  /// Has a book's first page be its cover, which says how many there are and what they have in common.
  static func bind(_ book: ImageID, _ connection: SQLiteConnection) throws(SQLiteError) {
    let name = SQLiteValue.text(book.text)
    var first: Int?
    try connection.run("SELECT number FROM image \(pages) ORDER BY natural, id LIMIT 1", [name]) {
      first = $0.integer(0)
    }
    guard let first else { return }
    try connection.run(
      "UPDATE image SET shelf = NULL, pages = NULL, common = NULL \(pages) AND cover = number AND number != ?",
      [name, .integer(first)])
    try connection.run(
      "UPDATE image SET cover = ? \(pages) AND cover IS NOT ?", [.integer(first), name, .integer(first)])
    try connection.run(
      "UPDATE image SET shelf = ?, (pages, common) = (SELECT count(*), "
        + "CASE WHEN count(title) = count(*) AND min(title) = max(title) THEN min(title) END "
        + "FROM image \(pages)) WHERE number = ?",
      [.text(NaturalOrder.key(book.text)), name, .integer(first)])
  }
}

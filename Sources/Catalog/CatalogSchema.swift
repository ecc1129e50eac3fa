import Files
import Foundation
import TileGeometry
import TileStorage

/// The table of images with its full-text index, and the way between its rows and entries.
enum CatalogSchema {
  /// Raised with every change of the tables: a catalog of another version is made anew.
  static let version = 13

  private static let image = """
    CREATE TABLE image (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
      inode INTEGER NOT NULL, bytes INTEGER NOT NULL, modified INTEGER NOT NULL, sidecar INTEGER NOT NULL,
      width INTEGER, height INTEGER, tile_size INTEGER, overlap INTEGER, stored_bytes INTEGER, format TEXT, generation INTEGER,
      title TEXT, caption TEXT, creator TEXT, date TEXT, place TEXT, rights TEXT, keywords TEXT, microns REAL,
      page INTEGER, digest TEXT, words TEXT, book TEXT, label TEXT, pages INTEGER, common TEXT, moves INTEGER,
      item TEXT NOT NULL, folder TEXT NOT NULL, search TEXT, natural TEXT NOT NULL, shelf TEXT, cover INTEGER,
      shown TEXT, book_search TEXT, book_shown TEXT, book_date TEXT
    )
    """
  /// What is said of books as wholes, of which their covers have what is listed and searched.
  private static let book = """
    CREATE TABLE book (
      id TEXT PRIMARY KEY, stamp INTEGER NOT NULL, title TEXT, date TEXT, search TEXT, cover TEXT
    ) WITHOUT ROWID
    """
  /// Reads its text from the table; `prefix` for what is found as it is typed.
  private static let words = """
    CREATE VIRTUAL TABLE words USING fts5(
      search, book_search, content = 'image', content_rowid = 'number', tokenize = 'unicode61 remove_diacritics 2',
      prefix = '1 2 3')
    """
  // The index forgets a row only when it is told the very text that it was given (FTS5, section 4.4.3).
  private static let forget =
    "INSERT INTO words (words, rowid, search, book_search) "
    + "VALUES ('delete', old.number, old.search, old.book_search);"
  private static let learn =
    "INSERT INTO words (rowid, search, book_search) VALUES (new.number, new.search, new.book_search);"

  static let drop = ["words", "image", "book"].map { "DROP TABLE IF EXISTS \($0)" }
  static let create = [
    image, book, words,
    "CREATE TRIGGER image_added AFTER INSERT ON image BEGIN \(learn) END",
    "CREATE TRIGGER image_removed AFTER DELETE ON image BEGIN \(forget) END",
    "CREATE TRIGGER image_changed AFTER UPDATE OF search, book_search ON image BEGIN \(forget) \(learn) END",
    // A book's pages in order, with all that its cover tells of them.
    "CREATE INDEX image_book ON image (book, natural, id, title, cover) "
      + "WHERE book IS NOT NULL AND width IS NOT NULL",
    "CREATE INDEX image_unreadable ON image (id) WHERE width IS NULL",
    "CREATE INDEX image_digest ON image (digest) WHERE digest IS NOT NULL",
    // What is listed: single images and the covers of books.
    "CREATE INDEX image_shelf ON image (shelf, id) WHERE shelf IS NOT NULL",
    "CREATE INDEX image_cover ON image (cover) WHERE cover IS NOT NULL",
    "CREATE INDEX image_books ON image (item) WHERE pages IS NOT NULL",
    // What a folder's collection lists.
    "CREATE INDEX image_folder ON image (folder, shelf, id) WHERE shelf IS NOT NULL",
  ]

  /// Which source root an archive came from. It outlives a change of the other tables, since no archive tells it.
  static let origin = [
    """
    CREATE TABLE IF NOT EXISTS origin (
      id TEXT PRIMARY KEY, root TEXT NOT NULL, bytes INTEGER NOT NULL, modified INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS origin_root ON origin (root)",
    // From what and how the archive was built, as it says itself as long as it can be read.
    "CREATE TABLE IF NOT EXISTS source (id TEXT PRIMARY KEY, digest TEXT NOT NULL, options TEXT NOT NULL) WITHOUT ROWID",
    // Where a root's pictures lie.
    """
    CREATE TABLE IF NOT EXISTS place (
      root TEXT PRIMARY KEY, path TEXT NOT NULL, book INTEGER NOT NULL, prefix TEXT
    ) WITHOUT ROWID
    """,
  ]
  static let learnSource =
    "INSERT INTO source (id, digest, options) VALUES (?, ?, ?) "
    + "ON CONFLICT (id) DO UPDATE SET digest = excluded.digest, options = excluded.options"
  static let learnPlace =
    "INSERT INTO place (root, path, book, prefix) VALUES (?, ?, ?, ?) ON CONFLICT (root) DO NOTHING"
  static let claim =
    "INSERT INTO origin (id, root, bytes, modified) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
    + "root = excluded.root, bytes = excluded.bytes, modified = excluded.modified "
    + "WHERE root != excluded.root OR bytes != excluded.bytes OR modified != excluded.modified"

  static let columns =
    "id, inode, bytes, modified, width, height, tile_size, overlap, format, generation, title, caption, "
    + "creator, date, place, rights, keywords, page, stored_bytes, microns, sidecar, digest, words, book, "
    + "label, pages, common, moves"
  private static let allColumns =
    columns + ", item, folder, search, natural, shelf, shown, book_search, book_shown, book_date"
  /// Not `INSERT OR REPLACE`, which would remove a row without its trigger.
  static let insert: String = {
    let names = allColumns.split(separator: ", ")
    let changes = names.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    return "INSERT INTO image (\(allColumns)) VALUES (\(names.map { _ in "?" }.joined(separator: ", "))) "
      + "ON CONFLICT (id) DO UPDATE SET \(changes)"
  }()
  /// Takes over what an attached catalog `old` has.
  static let takeOverOrigins = "INSERT INTO origin SELECT * FROM old.origin"
  static let takeOver = [
    "INSERT INTO image (number, cover, \(allColumns)) SELECT number, cover, \(allColumns) FROM old.image",
    "INSERT INTO book SELECT * FROM old.book",
  ]

  /// Has indexes let go of what was deleted.
  static func optimize(_ connection: SQLiteConnection) throws(SQLiteError) {
    var indexes: [String] = []
    try connection.run("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%fts5%'") {
      indexes.append($0.text(0) ?? "")
    }
    for name in indexes { try connection.run("INSERT INTO \(name)(\(name)) VALUES ('optimize')") }
  }

  static func values(_ entry: CatalogEntry) -> [SQLiteValue] {
    let (pyramid, m) = (entry.pyramid, entry.metadata)
    let isSingle = entry.book == nil && pyramid != nil
    // Lists of strings always encode.
    let keywords = String(decoding: try! JSONEncoder().encode(m.keywords), as: UTF8.self)
    return [
      .text(entry.id.text), .integer(Int(truncatingIfNeeded: entry.stamp.inode)), .integer(entry.stamp.size),
      .integer(entry.stamp.modifiedNanoseconds), SQLiteValue(pyramid?.imageSize.width),
      SQLiteValue(pyramid?.imageSize.height), SQLiteValue(pyramid?.tileSize),
      SQLiteValue(pyramid?.overlap), .text(entry.format),
      .integer(Int(truncatingIfNeeded: entry.generation)), SQLiteValue(m.title), SQLiteValue(m.caption),
      SQLiteValue(m.creator), SQLiteValue(m.date), SQLiteValue(m.place), SQLiteValue(m.rights),
      .text(keywords), SQLiteValue(entry.page), SQLiteValue(entry.bytes),
      SQLiteValue(entry.micronsPerPixel), .integer(entry.stamp.sidecar), SQLiteValue(entry.sourceDigest),
      SQLiteValue(furtherWords(m)), SQLiteValue(entry.book?.text), SQLiteValue(entry.label),
      // What a cover tells of its book is known once all of its pages are written.
      .null, .null, entry.isMoving ? .integer(1) : .null, .text(entry.item.text),
      .text(entry.item.folder.map { "\($0)/" } ?? ""),
      SQLiteValue(entry.pyramid == nil ? nil : entry.searchText), .text(NaturalOrder.key(entry.id.text)),
      SQLiteValue(isSingle ? NaturalOrder.key(entry.id.text) : nil),
      .text(CatalogEntry.key(ofShown: entry.shownName)),
      .null, .null, .null,
    ]
  }

  /// All words as JSON where they are more than the other columns hold; few pictures have more, and JSON takes time.
  private static func furtherWords(_ metadata: ImageMetadata) -> String? {
    let held = ImageMetadata(
      title: metadata.title, caption: metadata.caption,
      creators: metadata.creator.map { [$0] } ?? [], date: metadata.date, place: metadata.place,
      rights: metadata.rights, keywords: metadata.keywords)
    return held == metadata ? nil : String(decoding: metadata.json, as: UTF8.self)
  }

  /// The entry of a row with `columns`; nil where somebody has written one that has no image's id.
  static func entry(_ row: SQLiteRow) -> CatalogEntry? {
    guard let id = row.id(0) else { return nil }
    let stamp = FileStamp(
      inode: row.integer(1), size: row.integer(2), modified: row.integer(3), sidecar: row.integer(20))
    var entry = CatalogEntry(unreadable: id, stamp: stamp)
    entry.pyramid = PixelSize(width: row.integer(4), height: row.integer(5)).flatMap {
      Pyramid(imageSize: $0, tileSize: row.integer(6), overlap: row.integer(7))
    }
    entry.format = row.text(8) ?? ""
    entry.generation = UInt64(bitPattern: Int64(row.integer(9)))
    let keywords = row.text(16).flatMap { try? JSONDecoder().decode([String].self, from: Data($0.utf8)) }
    let words = row.text(22).flatMap { ImageMetadata(json: Data($0.utf8)) }
    entry.metadata =
      words
      ?? ImageMetadata(
        title: row.text(10), caption: row.text(11), creators: row.text(12).map { [$0] } ?? [],
        date: row.text(13), place: row.text(14), rights: row.text(15), keywords: keywords ?? [])
    entry.page = row.optionalInteger(17)
    entry.bytes = row.optionalInteger(18)
    entry.micronsPerPixel = row.optionalReal(19)
    entry.sourceDigest = row.text(21)
    (entry.book, entry.label) = (row.id(23), row.text(24))
    if let pages = row.optionalInteger(25) {
      entry.cover = CatalogEntry.Cover(pages: pages, title: row.text(26))
    }
    entry.isMoving = row.optionalInteger(27) == 1
    return entry
  }
}

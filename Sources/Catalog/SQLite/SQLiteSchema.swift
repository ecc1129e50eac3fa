/// The tables of a catalog in SQLite, with a full-text index of images.
enum SQLiteSchema {
  /// The version of the tables, raised with every change. A catalog of another version is recreated.
  static let version = 14

  private static let image = """
    CREATE TABLE image (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
      inode INTEGER NOT NULL, bytes INTEGER NOT NULL, modified INTEGER NOT NULL, sidecar INTEGER NOT NULL,
      width INTEGER, height INTEGER, tile_size INTEGER, overlap INTEGER, stored_bytes INTEGER, format TEXT, generation INTEGER,
      title TEXT, caption TEXT, creator TEXT, date TEXT, place TEXT, rights TEXT, keywords TEXT, microns REAL,
      page INTEGER, digest TEXT, words TEXT, book TEXT, label TEXT, pages INTEGER, common TEXT, moves INTEGER,
      item TEXT NOT NULL, folder TEXT NOT NULL, search TEXT, name_key TEXT NOT NULL, shelf TEXT, cover INTEGER,
      shown TEXT, book_search TEXT, book_shown TEXT, book_date TEXT
    )
    """
  /// The descriptions of books. A cover has a copy of the parts that are listed and searched.
  private static let book = """
    CREATE TABLE book (
      id TEXT PRIMARY KEY, stamp INTEGER NOT NULL, title TEXT, date TEXT, search TEXT, cover TEXT
    ) WITHOUT ROWID
    """
  /// The full-text index, which reads its text from the table. `prefix` is for searches while the user types.
  private static let words = """
    CREATE VIRTUAL TABLE words USING fts5(
      search, book_search, content = 'image', content_rowid = 'number', tokenize = 'unicode61 remove_diacritics 2',
      prefix = '1 2 3')
    """
  // A row is removed from the index only with the very text that was inserted (FTS5, section 4.4.3).
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
    // A book's pages in order, with all columns that its cover summarizes.
    "CREATE INDEX image_book ON image (book, name_key, id, title, cover) "
      + "WHERE book IS NOT NULL AND width IS NOT NULL",
    "CREATE INDEX image_unreadable ON image (id) WHERE width IS NULL",
    "CREATE INDEX image_digest ON image (digest) WHERE digest IS NOT NULL",
    // The listed rows: single images and the covers of books.
    "CREATE INDEX image_shelf ON image (shelf, id) WHERE shelf IS NOT NULL",
    "CREATE INDEX image_cover ON image (cover) WHERE cover IS NOT NULL",
    "CREATE INDEX image_books ON image (item) WHERE pages IS NOT NULL",
    // The rows of a folder's collection.
    "CREATE INDEX image_folder ON image (folder, shelf, id) WHERE shelf IS NOT NULL",
  ]

  /// The source root of each archive. It outlives a change of the other tables, since no archive contains it.
  static let origin = [
    """
    CREATE TABLE IF NOT EXISTS origin (
      id TEXT PRIMARY KEY, root TEXT NOT NULL, bytes INTEGER NOT NULL, modified INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS origin_root ON origin (root)",
    // The source roots that own books.
    "CREATE TABLE IF NOT EXISTS book_origin (id TEXT PRIMARY KEY, root TEXT NOT NULL) WITHOUT ROWID",
    // The source and options of each build. A readable archive contains them, too.
    "CREATE TABLE IF NOT EXISTS source (id TEXT PRIMARY KEY, digest TEXT NOT NULL, options TEXT NOT NULL) WITHOUT ROWID",
    // Images that could not be built.
    """
    CREATE TABLE IF NOT EXISTS failure (
      path TEXT NOT NULL, id TEXT NOT NULL, version TEXT NOT NULL, digest TEXT NOT NULL, builder TEXT NOT NULL,
      reason TEXT NOT NULL, time INTEGER NOT NULL, PRIMARY KEY (path, id)
    ) WITHOUT ROWID
    """,
    // The place of each root's pictures.
    """
    CREATE TABLE IF NOT EXISTS place (
      root TEXT PRIMARY KEY, path TEXT NOT NULL, book INTEGER NOT NULL, prefix TEXT
    ) WITHOUT ROWID
    """,
  ]

  /// Statements that copy the rows of an attached catalog `old`.
  static let takeOverOrigins = ["origin", "book_origin"].map { "INSERT INTO \($0) SELECT * FROM old.\($0)" }
  static let takeOver = [
    "INSERT INTO image (number, cover, \(CatalogSchema.allColumns)) SELECT number, cover, \(CatalogSchema.allColumns) FROM old.image",
    "INSERT INTO book SELECT * FROM old.book",
  ]

  /// Removes deleted rows from the full-text indexes.
  static func optimize(_ connection: any SQLConnection) throws(SQLError) {
    let indexes = try connection.rows(
      "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%fts5%'"
    ) { $0.text(0) }
    for name in indexes { try connection.run("INSERT INTO \(name)(\(name)) VALUES ('optimize')") }
  }
}

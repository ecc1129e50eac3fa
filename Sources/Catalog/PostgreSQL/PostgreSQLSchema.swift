/// The tables of a catalog in PostgreSQL, as a list of migrations that only grows.
///
/// Text is sorted by its bytes, as in SQLite, in any locale of the database.
enum PostgreSQLSchema {
  /// The version of the tables that this program needs.
  static var version: Int { migrations.count }

  /// A condition in statements that write. It prevents writes by a program of another version, also if the tables were
  /// migrated after its check.
  static var isOurs: String { "(SELECT version FROM ziggurat_schema) = \(version)" }

  /// The migrations. Each brings a database from the version that is its index to the next one, in a transaction of its
  /// own.
  static let migrations: [[String]] = [
    [
      """
      CREATE TABLE image (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE,
        inode bigint NOT NULL, bytes bigint NOT NULL, modified bigint NOT NULL, sidecar bigint NOT NULL,
        width bigint, height bigint, tile_size bigint, overlap bigint, stored_bytes bigint, format text,
        generation bigint, title text COLLATE "C", caption text, creator text, date text COLLATE "C", place text,
        rights text, keywords text, microns double precision, page bigint, digest text COLLATE "C", words text,
        book text COLLATE "C", label text, pages bigint, common text, moves bigint, item text COLLATE "C" NOT NULL,
        folder text COLLATE "C" NOT NULL, search tsvector, name_key text COLLATE "C" NOT NULL,
        shelf text COLLATE "C", cover bigint, shown text COLLATE "C", book_search tsvector,
        book_shown text COLLATE "C", book_date text COLLATE "C",
        found tsvector GENERATED ALWAYS AS (
          setweight(coalesce(search, ''), 'A') || setweight(coalesce(book_search, ''), 'B')) STORED
      )
      """,
      """
      CREATE TABLE book (
        id text COLLATE "C" PRIMARY KEY, stamp bigint NOT NULL, title text COLLATE "C", date text COLLATE "C",
        search tsvector, cover text COLLATE "C"
      )
      """,
      "CREATE INDEX image_found ON image USING gin (found)",
      "CREATE INDEX image_book ON image (book, name_key, id) WHERE book IS NOT NULL AND width IS NOT NULL",
      "CREATE INDEX image_unreadable ON image (id) WHERE width IS NULL",
      "CREATE INDEX image_digest ON image (digest) WHERE digest IS NOT NULL",
      "CREATE INDEX image_shelf ON image (shelf, id) WHERE shelf IS NOT NULL",
      "CREATE INDEX image_cover ON image (cover) WHERE cover IS NOT NULL",
      "CREATE INDEX image_books ON image (item) WHERE pages IS NOT NULL",
      "CREATE INDEX image_folder ON image (folder, shelf, id) WHERE shelf IS NOT NULL",
      """
      CREATE TABLE origin (
        id text COLLATE "C" PRIMARY KEY, root text COLLATE "C" NOT NULL, bytes bigint NOT NULL, modified bigint NOT NULL
      )
      """,
      "CREATE INDEX origin_root ON origin (root)",
      """
      CREATE TABLE source (id text COLLATE "C" PRIMARY KEY, digest text COLLATE "C" NOT NULL, options text NOT NULL)
      """,
      """
      CREATE TABLE place (
        root text COLLATE "C" PRIMARY KEY, path text NOT NULL, book bigint NOT NULL, prefix text COLLATE "C"
      )
      """,
      // One row: the writer, its last heartbeat and the number of its changes. The epoch is a key, so that a new writer
      // waits for transactions of the old epoch, and heartbeats do not.
      """
      CREATE TABLE writer (
        epoch bigint PRIMARY KEY, holder text NOT NULL, beat timestamptz NOT NULL, changes bigint NOT NULL
      )
      """,
      "INSERT INTO writer VALUES (0, '', '-infinity', 0)",
    ],
    // The archives of a library in an object store, so that no server needs a list of all.
    [
      """
      CREATE TABLE archive (
        id text COLLATE "C" NOT NULL, generation bigint NOT NULL, digest text COLLATE "C" NOT NULL, etag text NOT NULL,
        bytes bigint NOT NULL, width bigint NOT NULL, height bigint NOT NULL, tile_size bigint NOT NULL,
        format text NOT NULL, build text NOT NULL, words text NOT NULL, replaced timestamptz,
        PRIMARY KEY (id, generation)
      )
      """,
      "CREATE INDEX archive_replaced ON archive (replaced) WHERE replaced IS NOT NULL",
      "CREATE TABLE part (name text COLLATE \"C\" PRIMARY KEY)",
      """
      CREATE TABLE change (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text COLLATE "C" NOT NULL,
        transaction xid8 NOT NULL DEFAULT pg_current_xact_id(), told timestamptz NOT NULL DEFAULT clock_timestamp()
      )
      """,
      "CREATE INDEX change_transaction ON change (transaction)",
      "CREATE INDEX change_told ON change (told)",
      // Every change of a row is recorded, even one that is made by hand.
      """
      CREATE FUNCTION tell_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO change (id) VALUES (coalesce(NEW.id, OLD.id));
        RETURN NULL;
      END $$
      """,
      """
      CREATE TRIGGER archive_changed AFTER INSERT OR UPDATE OR DELETE ON archive
      FOR EACH ROW EXECUTE FUNCTION tell_change()
      """,
    ],
    // The metadata and deletions of visitors, and the URL of the writer. A deleted archive stays in the table, so that
    // the index in the store does not bring it back.
    [
      """
      CREATE TABLE sidecar (id text COLLATE "C" PRIMARY KEY, xmp text NOT NULL, version bigint NOT NULL)
      """,
      """
      CREATE TRIGGER sidecar_changed AFTER INSERT OR UPDATE OR DELETE ON sidecar
      FOR EACH ROW EXECUTE FUNCTION tell_change()
      """,
      "CREATE TABLE deletion (name text COLLATE \"C\" PRIMARY KEY, time bigint NOT NULL)",
      "ALTER TABLE archive ADD COLUMN deletion text COLLATE \"C\"",
      "CREATE INDEX archive_deletion ON archive (deletion) WHERE deletion IS NOT NULL",
      "ALTER TABLE writer ADD COLUMN address text NOT NULL DEFAULT ''",
    ],
    // Indexes for reading the list in each order, in both directions, from any place.
    ListOrder.Key.allCases.filter { $0 != .name }.flatMap { key in
      [false, true].map { "CREATE INDEX \(ListOrder(key: key, isDescending: $0).index)" }
    } + [
      "CREATE INDEX image_without_date ON image (name_key, id) "
        + "WHERE shelf IS NOT NULL AND coalesce(book_date, date) IS NULL"
    ],
    // The metadata of a deleted image is kept with its deletion. A later image with the same id does not get it.
    [
      "ALTER TABLE sidecar ADD COLUMN deleted text COLLATE \"C\" NOT NULL DEFAULT ''",
      "ALTER TABLE sidecar DROP CONSTRAINT sidecar_pkey",
      "ALTER TABLE sidecar ADD PRIMARY KEY (id, deleted)",
      "CREATE INDEX sidecar_deleted ON sidecar (deleted) WHERE deleted <> ''",
    ],
    searched,
    // The library of the catalog. A server of another library would treat all images as missing.
    ["ALTER TABLE writer ADD COLUMN library text COLLATE \"C\""],
    // The time at which an archive was added, which the index in a store does not contain. It is unknown for existing
    // archives.
    [
      "ALTER TABLE archive ADD COLUMN added timestamptz NOT NULL DEFAULT 'epoch'",
      "ALTER TABLE archive ALTER COLUMN added SET DEFAULT clock_timestamp()",
      """
      CREATE FUNCTION tell_added() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        SELECT CAST(extract(epoch FROM added) * 1000000000 AS bigint) INTO NEW.modified
        FROM archive WHERE id = NEW.id AND generation = NEW.generation AND added > 'epoch';
        NEW.modified = coalesce(NEW.modified, 0);
        RETURN NEW;
      END $$
      """,
      """
      CREATE TRIGGER image_added BEFORE INSERT OR UPDATE OF modified ON image FOR EACH ROW WHEN (NEW.modified = 0)
      EXECUTE FUNCTION tell_added()
      """,
      // A removed archive is not a former archive of a later image with its id.
      "ALTER TABLE archive ADD COLUMN gone boolean NOT NULL DEFAULT false",
      // Restored archives that are not yet in the index of the store.
      "ALTER TABLE archive ADD COLUMN unannounced boolean NOT NULL DEFAULT false",
      "CREATE INDEX archive_unannounced ON archive (id) WHERE unannounced",
      // The removal of a former archive is not a change.
      "DROP TRIGGER archive_changed ON archive",
      """
      CREATE TRIGGER archive_changed AFTER INSERT OR UPDATE ON archive
      FOR EACH ROW EXECUTE FUNCTION tell_change()
      """,
      """
      CREATE TRIGGER archive_removed AFTER DELETE ON archive
      FOR EACH ROW WHEN (OLD.replaced IS NULL) EXECUTE FUNCTION tell_change()
      """,
    ],
    // An index from table pages to parts of the list, as long as the table has that order. It has an expression instead
    // of "shelf", so that PostgreSQL does not use the index of the list for the same condition.
    [
      "CREATE INDEX searched_pages ON searched USING brin ((shelf || '')) "
        + "WITH (pages_per_range = 16, autosummarize = on)",
      "ANALYZE searched",
    ],
  ]

  /// The table for searches. One of its pages has four times as many rows as a page of `image`, and the rows of a
  /// folder are together.
  private static let searched = [
    // Writes of running servers wait.
    "LOCK TABLE image IN ACCESS EXCLUSIVE MODE",
    """
    CREATE TABLE searched (
      number bigint PRIMARY KEY, cover bigint, shelf text COLLATE "C", id text COLLATE "C" NOT NULL, words tsvector
    )
    """,
    // For a cover, the metadata of the book has another weight than the metadata of the page.
    """
    CREATE FUNCTION tell_searched() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'TRUNCATE' THEN
        TRUNCATE searched;
      ELSIF TG_OP = 'DELETE' THEN
        DELETE FROM searched WHERE number = OLD.number;
      ELSE
        INSERT INTO searched VALUES (NEW.number, NEW.cover, NEW.shelf, NEW.id,
          setweight(coalesce(NEW.search, ''), 'A') || setweight(coalesce(NEW.book_search, ''), 'B'))
        ON CONFLICT (number) DO UPDATE SET
          cover = excluded.cover, shelf = excluded.shelf, id = excluded.id, words = excluded.words;
      END IF;
      RETURN NULL;
    END $$
    """,
    """
    INSERT INTO searched SELECT number, cover, shelf, id,
      setweight(coalesce(search, ''), 'A') || setweight(coalesce(book_search, ''), 'B') FROM image ORDER BY shelf, id
    """,
    "CREATE INDEX searched_words ON searched USING gin (words)",
    "CREATE INDEX searched_shelf ON searched (shelf, id) WHERE shelf IS NOT NULL",
    "CREATE INDEX searched_cover ON searched (cover) WHERE cover IS NOT NULL",
    "ANALYZE searched",
    """
    CREATE TRIGGER image_told AFTER INSERT OR DELETE ON image FOR EACH ROW EXECUTE FUNCTION tell_searched()
    """,
    """
    CREATE TRIGGER image_told_anew AFTER UPDATE ON image FOR EACH ROW
    WHEN ((OLD.number, OLD.cover, OLD.shelf, OLD.id, OLD.search, OLD.book_search)
      IS DISTINCT FROM (NEW.number, NEW.cover, NEW.shelf, NEW.id, NEW.search, NEW.book_search))
    EXECUTE FUNCTION tell_searched()
    """,
    """
    CREATE TRIGGER image_told_gone AFTER TRUNCATE ON image FOR EACH STATEMENT EXECUTE FUNCTION tell_searched()
    """,
    "ALTER TABLE image DROP COLUMN found",
  ]

  /// Returns the version of the tables; 0 if there are none.
  static func version(of connection: PostgreSQLConnection) throws(SQLError) -> Int {
    var isThere = false
    try connection.run("SELECT to_regclass('ziggurat_schema')") { isThere = !$0.isNull(0) }
    guard isThere else { return 0 }
    return try connection.integer("SELECT version FROM ziggurat_schema") ?? 0
  }

  /// Migrates the tables to this program's version.
  /// - Returns: the number of migrations.
  static func migrate(_ connection: PostgreSQLConnection) throws(SQLError) -> Int {
    // Building the indexes of a large table takes long.
    try connection.run("SET statement_timeout = 0")
    var count = 0
    var isDone = false
    while !isDone {
      try connection.transaction { () throws(SQLError) in
        // One migration at a time, in any process. The number is the letters of "ziggurat".
        try connection.run("SELECT pg_advisory_xact_lock(8820132213562827124)")
        try connection.run("CREATE TABLE IF NOT EXISTS ziggurat_schema (version bigint NOT NULL)")
        let version = try version(of: connection)
        guard version < migrations.count else {
          isDone = true
          return
        }
        for statement in migrations[version] { try connection.run(statement) }
        try connection.run("DELETE FROM ziggurat_schema")
        try connection.run("INSERT INTO ziggurat_schema VALUES (?)", [.integer(version + 1)])
        count += 1
      }
    }
    return count
  }
}

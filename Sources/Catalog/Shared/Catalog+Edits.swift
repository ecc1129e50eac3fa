import TileStorage
package import ZigguratFiles

/// Changes by visitors in a catalog that servers share. Each transaction checks that this process is still the writer.
extension Catalog {
  /// Stores the sidecar of an image, and the entry with its metadata.
  /// - Parameters:
  ///   - xmp: the whole sidecar.
  ///   - entry: the entry of the image's archive with this metadata.
  ///   - version: the version of the sidecar that was edited; 0 for none.
  /// - Returns: false if the sidecar or the archive has changed since then. Nothing is stored in that case.
  package func write(
    sidecar xmp: [UInt8], of entry: CatalogEntry, after version: Int
  ) throws(StorageError) -> Bool {
    var isCurrent = false
    try write { (connection) throws(SQLError) in
      isCurrent = false
      let id = SQLValue.text(entry.id.text)
      let found = try connection.integer(
        "SELECT version FROM sidecar WHERE id = ? AND deleted = '' FOR UPDATE", [id])
      guard found ?? 0 == version else { return }
      isCurrent =
        try connection.integer(
          "SELECT 1 FROM archive WHERE id = ? AND generation = ? AND \(Self.isThere) FOR UPDATE",
          [id, .integer(Int(truncatingIfNeeded: entry.generation))]) != nil
      guard isCurrent else { return }
      try connection.run(
        "INSERT INTO sidecar (id, xmp, version) VALUES (?, ?, ?) "
          + "ON CONFLICT (id, deleted) DO UPDATE SET xmp = excluded.xmp, version = excluded.version",
        [id, .text(String(decoding: xmp, as: UTF8.self)), .integer(version + 1)])
      try Self.update([entry], removing: [], connection)
    }
    return isCurrent
  }

  /// Returns the sidecars of those images that have one.
  /// - Parameter deletion: the deletion of the images; nil for existing images.
  package func sidecars(
    of ids: [ImageID], deletedBy deletion: String? = nil
  ) throws(StorageError) -> [ImageID: ArchiveRows.Sidecar] {
    guard !ids.isEmpty else { return [:] }
    let found = try rows(
      "SELECT id, xmp, version FROM sidecar WHERE id = ANY (CAST(? AS text[])) AND deleted = ?",
      [.text(Self.list(ids)), .text(deletion ?? "")]
    ) { row in
      row.id(0).map { ($0, ArchiveRows.Sidecar(xmp: Array(row.bytes(1)), version: row.integer(2))) }
    }
    return Dictionary(found) { $1 }
  }

  // MARK: Adding

  /// The maximum length of an id in bytes. An index entry of PostgreSQL has at most 2,700 bytes, and one contains an
  /// id, its key and its folder or book.
  static let maxIDLength = 600

  /// Reserves an id for the image of an upload, so that no other upload on any server gets it. Any server can reserve
  /// an id, because the primary key alone prevents duplicates.
  /// - Parameter upload: the id of the upload. A second call for it can reserve the same id again.
  /// - Returns: false if an image, a book, a folder or another upload has the id.
  package func reserve(_ id: ImageID, for upload: String) throws(StorageError) -> Bool {
    guard id.text.utf8.count <= Self.maxIDLength else {
      throw StorageError(
        "add \(id)", "in a catalog that servers share an id has at most \(Self.maxIDLength) bytes",
        kind: .unreadable)
    }
    let reserved = try rows(
      "INSERT INTO origin (id, root, bytes, modified) SELECT ?1, ?2, 0, 0 WHERE NOT EXISTS "
        + "(SELECT 1 FROM image WHERE id = ?1 OR item = ?1 AND pages IS NOT NULL) "
        + "AND NOT EXISTS (SELECT 1 FROM image WHERE id > ?3 AND id < ?4) "
        + "AND NOT EXISTS (SELECT 1 FROM archive WHERE id = ?1) ON CONFLICT (id) DO UPDATE SET root = excluded.root "
        + "WHERE origin.root = excluded.root RETURNING id",
      // Everything below it. "0" is the byte after the slash.
      [.text(id.text), .text(Self.root(ofUpload: upload)), .text("\(id)/"), .text("\(id)0")]
    ) { $0.id(0) }
    return !reserved.isEmpty
  }

  /// Releases the ids that were reserved for uploads without an image.
  package func release(_ uploads: [String]) throws(StorageError) {
    let roots = uploads.map { "\"\(Self.root(ofUpload: $0))\"" }.joined(separator: ",")
    try read { (connection) throws(SQLError) in
      try connection.run("DELETE FROM origin WHERE root = ANY (CAST(? AS text[]))", [.text("{\(roots)}")])
    }
  }

  /// Returns a root that no builder uses.
  private static func root(ofUpload id: String) -> String { "upload:\(id)" }

  // MARK: Deleting

  /// Returns the time of the database's clock, which is the same for all servers, in seconds since 1970.
  package func now() throws(StorageError) -> Int {
    try integer("SELECT CAST(floor(extract(epoch FROM clock_timestamp())) AS bigint)") ?? 0
  }

  /// Deletes images together, until `restore`.
  /// - Parameters:
  ///   - time: seconds since 1970.
  ///   - version: the required version of a single image's archive and sidecar (0 for no sidecar); nil for any.
  /// - Returns: the images that existed.
  package func delete(
    _ ids: [ImageID], as name: String, at time: Int, onlyOf version: (generation: UInt64, sidecar: Int)? = nil
  ) throws(StorageError) -> [ImageID] {
    var taken: [ImageID] = []
    try write { (connection) throws(SQLError) in
      taken = []
      if let version {
        var isStill = false
        try connection.run(
          "SELECT generation, (SELECT version FROM sidecar WHERE sidecar.id = archive.id AND deleted = '') FROM archive "
            + "WHERE id = ANY (CAST(? AS text[])) AND \(Self.isThere) FOR UPDATE", [.text(Self.list(ids))]
        ) { row in
          let generation = UInt64(bitPattern: Int64(row.integer(0)))
          isStill = (generation, row.optionalInteger(1) ?? 0) == version
        }
        guard isStill else { return }
      }
      taken = try connection.rows(
        "UPDATE archive SET deletion = ? WHERE id = ANY (CAST(? AS text[])) AND \(Self.isThere) RETURNING id",
        [.text(name), .text(Self.list(ids))]
      ) { $0.id(0) }
      guard !taken.isEmpty else { return }
      try connection.run(
        "UPDATE archive SET gone = true WHERE id = ANY (CAST(? AS text[])) AND replaced IS NOT NULL AND NOT gone",
        [.text(Self.list(taken))])
      try connection.run(
        "UPDATE sidecar SET deleted = ? WHERE id = ANY (CAST(? AS text[])) AND deleted = ''",
        [.text(name), .text(Self.list(taken))])
      try connection.run("INSERT INTO deletion (name, time) VALUES (?, ?)", [.text(name), .integer(time)])
      try Self.update([], removing: taken.map(\.text), connection)
    }
    return taken
  }

  /// Returns the deletions after a time that can be restored, with the archives' ids, the latest first.
  package func deletions(since oldest: Int) throws(StorageError) -> [Deletion] {
    var found: [(name: String, time: Int, images: [ImageID])] = []
    try read { (connection) throws(SQLError) in
      found = []
      try connection.run(
        "SELECT name, time, id FROM deletion JOIN archive ON deletion = name WHERE time > ? ORDER BY time DESC, name",
        [.integer(oldest)]
      ) { row in
        guard let name = row.text(0), let id = row.id(2) else { return }
        if found.last?.name != name { found.append((name, row.integer(1), [])) }
        found[found.count - 1].images.append(id)
      }
    }
    return found.map { Deletion(name: $0.name, images: $0.images, time: $0.time) }
  }

  /// Returns the archives of a deletion.
  package func archives(ofDeletion name: String) throws(StorageError) -> [ArchiveRow] {
    try rows(
      "SELECT \(ArchiveRow.columns) FROM archive WHERE deletion = ?", [.text(name)], ArchiveRow.init)
  }

  /// Restores the images of a deletion.
  /// - Parameter entries: the entries of the restored images.
  /// - Returns: the restored images. The others stay deleted because their ids are in use.
  package func restore(_ entries: [CatalogEntry], from name: String) throws(StorageError) -> [ImageID] {
    var back: [ImageID] = []
    try write { (connection) throws(SQLError) in
      back = []
      for entry in entries {
        try connection.run(
          "UPDATE archive SET deletion = NULL, replaced = NULL, gone = false, unannounced = true WHERE id = ?1 AND generation = ?2 AND deletion = ?3 "
            + "AND NOT EXISTS (SELECT 1 FROM archive AS other WHERE other.id = ?1 AND other.replaced IS NULL "
            + "AND other.deletion IS NULL) RETURNING id",
          [.text(entry.id.text), .integer(Int(truncatingIfNeeded: entry.generation)), .text(name)]
        ) { if let id = $0.id(0) { back.append(id) } }
      }
      let restored = Set(back)
      // A later image with the same id, removed without a deletion, may have left a sidecar.
      let those = "id IN (SELECT id FROM sidecar WHERE deleted = ? AND id = ANY (CAST(? AS text[])))"
      try connection.run(
        "DELETE FROM sidecar WHERE deleted = '' AND \(those)", [.text(name), .text(Self.list(back))])
      try connection.run(
        "UPDATE sidecar SET deleted = '' WHERE deleted = ? AND id = ANY (CAST(? AS text[]))",
        [.text(name), .text(Self.list(back))])
      try Self.update(entries.filter { restored.contains($0.id) }, removing: [], connection)
      try connection.run(
        "DELETE FROM deletion WHERE name = ? AND NOT EXISTS (SELECT 1 FROM archive WHERE deletion = name)",
        [.text(name)])
    }
    return back
  }

  /// Returns restored archives for which the index in the store still contains another archive, or none.
  package func unannounced() throws(StorageError) -> [ArchiveRow] {
    try rows(
      "SELECT \(ArchiveRow.columns) FROM archive WHERE unannounced AND \(Self.isThere) LIMIT 1000", [],
      reading: .row, ArchiveRow.init)
  }

  /// Notes that the index in the store contains these archives.
  package func areAnnounced(_ rows: [ArchiveRow], in making: Int) throws(StorageError) {
    try write(in: making) { (connection) throws(SQLError) in
      try connection.runEach(
        "UPDATE archive SET unannounced = false WHERE id = ? AND generation = ?",
        rows.map { Array($0.values.prefix(2)) })
    }
  }

  /// Makes deletions until a time permanent. The images stay deleted, whatever the index in the store contains.
  package func purgeDeleted(until oldest: Int) throws(StorageError) {
    guard try integer("SELECT 1 FROM deletion WHERE time <= ? LIMIT 1", [.integer(oldest)]) != nil else {
      return
    }
    try write { (connection) throws(SQLError) in
      try connection.run(
        "DELETE FROM sidecar WHERE deleted IN (SELECT name FROM deletion WHERE time <= ?)", [.integer(oldest)]
      )
      try connection.run("DELETE FROM deletion WHERE time <= ?", [.integer(oldest)])
    }
  }

  // MARK: Originals of purged images

  /// Returns the archives that were deleted and can no longer be restored.
  /// - Parameter ids: ids of images, or of books for all of their pages.
  package func purged(_ ids: [ImageID]) throws(StorageError) -> [ArchiveRow] {
    guard !ids.isEmpty else { return [] }
    let columns = ArchiveRow.columns.split(separator: ", ").map { "archive.\($0)" }.joined(separator: ", ")
    let rows =
      "SELECT \(columns) FROM unnest(CAST(? AS text[])) AS item (name) JOIN archive ON deletion IS NOT NULL "
      + "AND NOT EXISTS (SELECT 1 FROM deletion AS kept WHERE kept.name = archive.deletion) AND "
    let list = SQLValue.text(Self.list(ids))
    var found: [ArchiveRow] = []
    try read { (connection) throws(SQLError) in
      found = []
      // Two queries, each with an index. "0" is the byte after the slash.
      for condition in [
        "id = item.name", "id > item.name || '/' COLLATE \"C\" AND id < item.name || '0' COLLATE \"C\"",
      ] {
        found += try connection.rows(rows + condition, [list], ArchiveRow.init)
      }
    }
    return found
  }

  /// Whether an image of this id, or a page of a book of this id, may show a file, and exists or can be restored.
  /// - Parameter sourceDigest: the digest of the file, as in build records.
  package func mayShow(sourceDigest: String, _ id: ImageID) throws(StorageError) -> Bool {
    try integer(
      "SELECT 1 FROM archive WHERE (id = ?1 OR id > ?2 AND id < ?3) AND position(?4 IN build) > 0 "
        + "AND (\(Self.isThere) OR deletion IN (SELECT name FROM deletion)) LIMIT 1",
      [.text(id.text), .text("\(id)/"), .text("\(id)0"), .text(sourceDigest)]) != nil
  }
}

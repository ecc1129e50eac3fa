package import ZigguratFiles

/// The archives of a library in an object store, in a catalog that servers share. No server needs a list of all.
extension Catalog {
  /// The number of hours in which requests for the generation of a replaced archive are answered.
  package static let formerHours = 24

  /// The condition for the current archive of an image.
  static let isThere = "replaced IS NULL AND deletion IS NULL"

  /// Returns the known archives of some images, including those that were replaced a short time ago.
  package func archives(of ids: [ImageID]) throws(StorageError) -> [ImageID: ArchiveRows] {
    guard !ids.isEmpty else { return [:] }
    var found: [ImageID: ArchiveRows] = [:]
    var damaged: String?
    let seconds = Self.formerHours * 3600
    try read(.row) { (connection) throws(SQLError) in
      found = [:]
      damaged = nil
      try connection.run(
        "SELECT \(ArchiveRow.columns), replaced IS NULL, "
          + "CAST(extract(epoch FROM replaced - clock_timestamp()) AS bigint) + \(seconds), xmp, version "
          + "FROM archive LEFT JOIN (SELECT id, xmp, version FROM sidecar WHERE deleted = '') AS said USING (id) "
          + "WHERE id = ANY (CAST(? AS text[])) AND deletion IS NULL AND NOT gone "
          + "AND (replaced IS NULL OR replaced > clock_timestamp() - make_interval(secs => \(seconds))) "
          + "ORDER BY replaced DESC",
        [.text(Self.list(ids))]
      ) { row in
        guard let archive = ArchiveRow(row) else {
          if row.text(11) == "t" { damaged = row.text(0) ?? "" }
          return
        }
        if row.text(11) == "t" {
          found[archive.id, default: ArchiveRows()].current = archive
          guard !row.isNull(13) else { return }
          let sidecar = ArchiveRows.Sidecar(xmp: Array(row.bytes(13)), version: row.integer(14))
          found[archive.id]?.sidecar = sidecar
        } else {
          let former = ArchiveRows.Former(row: archive, remains: row.integer(12))
          found[archive.id, default: ArchiveRows()].former.append(former)
        }
      }
    }
    // A damaged row does not mean that the image is missing.
    if let damaged {
      throw StorageError("read the catalog", "the row of '\(damaged)' is damaged", kind: .unreadable)
    }
    return found
  }

  /// Calls `body` with the id and digest of every image's archive. A deleted image is represented by its last archive.
  package func forEachArchive(_ body: (ImageID, String) -> Void) throws(StorageError) {
    let step = 20_000
    var last: String? = ""
    while let behind = last {
      // Pages keep the use of memory small. Only this process changes rows in the meantime.
      let page = try rows(
        "SELECT DISTINCT ON (id) id, digest FROM archive WHERE id > ? AND replaced IS NULL "
          + "ORDER BY id, deletion DESC LIMIT \(step)", [.text(behind)]
      ) { (id: $0.text(0) ?? "", digest: $0.text(1) ?? "") }
      for (id, digest) in page { if let id = ImageID(id) { body(id, digest) } }
      last = page.count == step ? page.last?.id : nil
    }
  }

  /// The result of a change.
  package struct Taking: Sendable {
    /// The errors of images that the database cannot store.
    package var refused: [StorageError] = []
    /// Images whose metadata was edited in the meantime. They are not stored and must be read again.
    package var edited: [ImageID] = []

    static func + (one: Taking, other: Taking) -> Taking {
      Taking(refused: one.refused + other.refused, edited: one.edited + other.edited)
    }
  }

  /// Stores the present state of images in one transaction. It omits images that the database cannot hold, or that were
  /// edited in the meantime.
  /// - Parameters:
  ///   - parts: the parts of the store's index that are complete with this change.
  ///   - isWhole: whether these are all valid parts, and replace the earlier ones.
  ///   - making: the value of `making` when the index was read; nil for any. A later writer may have read more.
  @discardableResult package func take(
    _ change: ArchiveChange, parts: Set<String> = [], isWhole: Bool = false, in making: Int? = nil
  ) throws(StorageError) -> Taking {
    var isUnfit = false
    var taking = Taking()
    do throws(StorageError) {
      try write(in: making) { (connection) throws(SQLError) in
        isUnfit = false
        do throws(SQLError) {
          taking.edited = try Self.take(change, parts, isWhole, connection)
        } catch {
          isUnfit = error.kind == .unfit
          throw error
        }
      }
      return taking
    } catch {
      guard isUnfit, let last = change.archives.last else { throw error }
      let (first, rest) = change.halves
      // An archive that is alone is the one that does not fit.
      let found =
        try first.map { (first) throws(StorageError) in try take(first, in: making) }
        ?? Taking(refused: [StorageError("list \(last.id)", error.reason, kind: .unreadable)])
      return try found + take(rest, parts: parts, isWhole: isWhole, in: making)
    }
  }

  /// - Returns: the images that were edited in the meantime.
  private static func take(
    _ change: ArchiveChange, _ parts: Set<String>, _ isWhole: Bool, _ connection: any SQLConnection
  ) throws(SQLError) -> [ImageID] {
    let deleted = try deleted(change.archives, connection)
    let edited = try edited(change, connection)
    let restored = try restored(change, connection)
    let isPassedOver = { (id: ImageID) in
      deleted.contains(id) || edited.contains(id) || restored.contains(id)
    }
    let archives = change.archives.filter { !isPassedOver($0.id) }
    let gone = change.gone.filter { !restored.contains($0) }
    try connection.runEach(
      "UPDATE archive SET replaced = clock_timestamp() WHERE id = ? AND generation != ? AND \(isThere)",
      archives.map { Array($0.values.prefix(2)) })
    let names = ArchiveRow.columns.split(separator: ", ")
    try connection.runEach(
      "INSERT INTO archive (\(ArchiveRow.columns)) VALUES (\(names.map { _ in "?" }.joined(separator: ", "))) "
        + "ON CONFLICT (id, generation) DO UPDATE SET replaced = NULL, deletion = NULL, gone = false, added = "
        + "CASE WHEN archive.replaced IS NULL AND archive.deletion IS NULL THEN archive.added ELSE clock_timestamp() END, "
        + names.dropFirst(2).map { "\($0) = excluded.\($0)" }.joined(separator: ", "),
      archives.map(\.values))
    // After the archives, which have the times at which they were added.
    try update(
      change.entries.filter { !isPassedOver($0.id) }, removing: gone.map(\.text), connection)
    try connection.runEach(
      "UPDATE archive SET replaced = coalesce(replaced, clock_timestamp()), gone = true "
        + "WHERE id = ? AND (replaced IS NULL OR NOT gone)",
      gone.map { [.text($0.text)] })
    if isWhole { try connection.run("DELETE FROM part") }
    try connection.runEach(
      "INSERT INTO part (name) VALUES (?) ON CONFLICT DO NOTHING", parts.sorted().map { [.text($0)] })
    return change.archives.map(\.id).filter(edited.contains)
  }

  /// Returns the archives that visitors have deleted and that no other archive has replaced.
  private static func deleted(
    _ archives: [ArchiveRow], _ connection: any SQLConnection
  ) throws(SQLError) -> Set<ImageID> {
    guard !archives.isEmpty else { return [] }
    let generations = Dictionary(archives.map { ($0.id, $0.generation) }) { first, _ in first }
    let found = try connection.rows(
      "SELECT id, generation FROM archive WHERE id = ANY (CAST(? AS text[])) AND deletion IS NOT NULL AND NOT EXISTS "
        + "(SELECT 1 FROM archive AS other WHERE other.id = archive.id AND other.replaced IS NULL "
        + "AND other.deletion IS NULL)",
      [.text(list(archives.map(\.id)))]
    ) { row -> ImageID? in
      guard let id = row.id(0), generations[id] == UInt64(bitPattern: Int64(row.integer(1))) else {
        return nil
      }
      return id
    }
    return Set(found)
  }

  /// Returns the images that visitors have restored since the change was read. The index in the store does not contain
  /// them yet; it is updated last.
  private static func restored(
    _ change: ArchiveChange, _ connection: any SQLConnection
  ) throws(SQLError) -> Set<ImageID> {
    let ids = change.archives.map(\.id) + change.gone
    guard !ids.isEmpty else { return [] }
    return Set(
      try connection.rows(
        "SELECT id FROM archive WHERE id = ANY (CAST(? AS text[])) AND unannounced AND \(isThere)",
        [.text(list(ids))]
      ) { $0.id(0) })
  }

  /// Returns the images whose metadata has changed since the entries were made.
  private static func edited(
    _ change: ArchiveChange, _ connection: any SQLConnection
  ) throws(SQLError) -> Set<ImageID> {
    guard !change.archives.isEmpty else { return [] }
    var versions: [ImageID: Int] = [:]
    try connection.run(
      "SELECT id, version FROM sidecar WHERE id = ANY (CAST(? AS text[])) AND deleted = ''",
      [.text(list(change.archives.map(\.id)))]
    ) { row in if let id = row.id(0) { versions[id] = row.integer(1) } }
    return Set(change.archives.lazy.map(\.id).filter { versions[$0] != change.versions[$0] })
  }

  /// Returns the parts of the store's index that have been applied.
  package func parts() throws(StorageError) -> Set<String> {
    Set(try rows("SELECT name FROM part WHERE name <> ''") { $0.text(0) })
  }

  /// Whether the whole index was applied once. Before that, a missing image may still exist.
  package func isFilled() throws(StorageError) -> Bool {
    try integer("SELECT 1 FROM part LIMIT 1", reading: .row) != nil
  }

  /// The parts of an empty index.
  package static let noParts: Set<String> = [""]

  /// Removes archives that were replaced long ago, and old records of changes.
  package func forgetFormer() throws(StorageError) {
    let former =
      "archive WHERE deletion IS NULL AND replaced < clock_timestamp() - make_interval(hours => \(Self.formerHours))"
    // A server that has not read the feed for so long starts again.
    let announced = "change WHERE told < clock_timestamp() - interval '1 hour'"
    for old in [former, announced] {
      var isAny = try integer("SELECT 1 FROM \(old) LIMIT 1") != nil
      // After a long pause there may be millions of rows, too many for the timeout of one transaction.
      while isAny {
        try write { (connection) throws(SQLError) in
          isAny = false
          let table = old.prefix { $0 != " " }
          try connection.run(
            "DELETE FROM \(table) WHERE ctid IN (SELECT ctid FROM \(old) LIMIT 5000) RETURNING 1"
          ) { _ in isAny = true }
        }
      }
    }
  }

  /// Returns ids as a PostgreSQL array (section 8.15 of its manual).
  static func list(_ ids: [ImageID]) -> String {
    var text: [UInt8] = [UInt8(ascii: "{")]
    for (number, id) in ids.enumerated() {
      if number > 0 { text.append(UInt8(ascii: ",")) }
      text.append(UInt8(ascii: "\""))
      // By bytes: as a character, a quote may combine with the mark after it.
      for byte in id.text.utf8 {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { text.append(UInt8(ascii: "\\")) }
        text.append(byte)
      }
      text.append(UInt8(ascii: "\""))
    }
    return String(decoding: text, as: UTF8.self) + "}"
  }
}

package import ZigguratFiles

/// The archives of a library in an object store, in a catalog that servers share. No server needs a list of all.
extension Catalog {
  /// Hours that an archive which was replaced is still answered for whoever names its generation.
  package static let formerHours = 24

  /// The condition for an archive that is the present one of its image.
  static let isThere = "replaced IS NULL AND deletion IS NULL"

  /// The archives of those of `ids` that are known, also those that were replaced a short while ago.
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
    // That is no reason to call the image missing.
    if let damaged {
      throw StorageError("read the catalog", "the row of '\(damaged)' is damaged", kind: .unreadable)
    }
    return found
  }

  /// Gives the id and digest of every image's archive; of an image that was deleted those that went last.
  package func forEachArchive(_ body: (ImageID, String) -> Void) throws(StorageError) {
    let step = 20_000
    var last: String? = ""
    while let behind = last {
      // Pages, none of which is much in memory; whoever changes rows meanwhile is this process.
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
    /// Images of which somebody has said something else meanwhile: they are not taken in, and to be read again.
    package var edited: [ImageID] = []

    static func + (one: Taking, other: Taking) -> Taking {
      Taking(refused: one.refused + other.refused, edited: one.edited + other.edited)
    }
  }

  /// Takes in what images are now, all or nothing but what the database cannot hold, and what was edited meanwhile.
  /// - Parameters:
  ///   - parts: of what builders have written, those that are taken in whole with this.
  ///   - isWhole: whether they are all that count, and none of before.
  ///   - making: in which that was read: who took over meanwhile has read more. Nil for any.
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
      // One that is alone is what does not fit.
      let found =
        try first.map { (first) throws(StorageError) in try take(first, in: making) }
        ?? Taking(refused: [StorageError("list \(last.id)", error.reason, kind: .unreadable)])
      return try found + take(rest, parts: parts, isWhole: isWhole, in: making)
    }
  }

  /// - Returns: those that were edited meanwhile.
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
    // Behind the archives, which say when they came.
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

  /// Returns the archives that visitors have deleted and that no other archive has followed.
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

  /// Returns the images that visitors have restored since the change was read. The directory does not contain that yet, and
  /// will contain it last.
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

  /// The parts of what builders have written that were taken in.
  package func parts() throws(StorageError) -> Set<String> {
    Set(try rows("SELECT name FROM part WHERE name <> ''") { $0.text(0) })
  }

  /// Whether all that builders had written was taken in once: before that nobody knows what is missing.
  package func isFilled() throws(StorageError) -> Bool {
    try integer("SELECT 1 FROM part LIMIT 1", reading: .row) != nil
  }

  /// The parts of a directory that is empty.
  package static let noParts: Set<String> = [""]

  /// Forgets what nobody is answered with any more: archives that were replaced long ago, and what was told of changes.
  package func forgetFormer() throws(StorageError) {
    let former =
      "archive WHERE deletion IS NULL AND replaced < clock_timestamp() - make_interval(hours => \(Self.formerHours))"
    // Who has not listened for so long begins anew.
    let announced = "change WHERE told < clock_timestamp() - interval '1 hour'"
    for old in [former, announced] {
      var isAny = try integer("SELECT 1 FROM \(old) LIMIT 1") != nil
      // After long silence there are millions, for which one transaction has not the time.
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

  /// Ids as PostgreSQL reads an array of them (section 8.15 of its manual).
  static func list(_ ids: [ImageID]) -> String {
    var text: [UInt8] = [UInt8(ascii: "{")]
    for (number, id) in ids.enumerated() {
      if number > 0 { text.append(UInt8(ascii: ",")) }
      text.append(UInt8(ascii: "\""))
      // By bytes: with a mark that combines behind it a quote is another character.
      for byte in id.text.utf8 {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { text.append(UInt8(ascii: "\\")) }
        text.append(byte)
      }
      text.append(UInt8(ascii: "\""))
    }
    return String(decoding: text, as: UTF8.self) + "}"
  }
}

package import Files

/// Which archives a library in an object store has, in a catalog that servers share: none of them needs a list of all.
extension Catalog {
  /// Hours that an archive which was replaced is still answered for whoever names its generation.
  package static let formerHours = 24

  /// Of an archive: it is the image's.
  static let isThere = "replaced IS NULL AND deletion IS NULL"

  /// The archives of those of `ids` that are known, also those that were replaced a short while ago.
  package func archives(of ids: [ImageID]) throws(StorageError) -> [ImageID: ArchiveRows] {
    guard !ids.isEmpty else { return [:] }
    var found: [ImageID: ArchiveRows] = [:]
    let seconds = Self.formerHours * 3600
    try read(.row) { (connection) throws(SQLError) in
      found = [:]
      try connection.run(
        "SELECT \(ArchiveRow.columns), replaced IS NULL, "
          + "CAST(extract(epoch FROM replaced - clock_timestamp()) AS bigint) + \(seconds), xmp, version "
          + "FROM archive LEFT JOIN (SELECT id, xmp, version FROM sidecar WHERE deleted = '') AS said USING (id) "
          + "WHERE id = ANY (CAST(? AS text[])) AND deletion IS NULL "
          + "AND (replaced IS NULL OR replaced > clock_timestamp() - make_interval(secs => \(seconds))) "
          + "ORDER BY replaced DESC",
        [.text(Self.list(ids))]
      ) { row in
        guard let archive = ArchiveRow(row) else { return }
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
    return found
  }

  /// Gives the id and digest of every image's archive.
  package func forEachArchive(_ body: (ImageID, String) -> Void) throws(StorageError) {
    let step = 20_000
    var last: String? = ""
    while let behind = last {
      // Pages, none of which is much in memory; whoever changes rows meanwhile is this process.
      var page: [(id: String, digest: String)] = []
      try read { (connection) throws(SQLError) in
        page = []
        try connection.run(
          "SELECT id, digest FROM archive WHERE id > ? AND replaced IS NULL ORDER BY id LIMIT \(step)",
          [.text(behind)]
        ) { page.append(($0.text(0) ?? "", $0.text(1) ?? "")) }
      }
      for (id, digest) in page { if let id = ImageID(id) { body(id, digest) } }
      last = page.count == step ? page.last?.id : nil
    }
  }

  /// Takes in what images are now, all or nothing but what the database cannot hold.
  /// - Parameters:
  ///   - parts: of what builders have written, those that are taken in whole with this.
  ///   - isWhole: whether they are all that count, and none of before.
  /// - Returns: of each image that it cannot hold why.
  @discardableResult package func take(
    _ change: ArchiveChange, parts: Set<String> = [], isWhole: Bool = false
  ) throws(StorageError) -> [StorageError] {
    var isUnfit = false
    do throws(StorageError) {
      try write { (connection) throws(SQLError) in
        isUnfit = false
        do throws(SQLError) { try Self.take(change, parts, isWhole, connection) } catch {
          isUnfit = error.kind == .unfit
          throw error
        }
      }
      return []
    } catch {
      guard isUnfit, let last = change.archives.last else { throw error }
      let (first, rest) = change.halves
      // One that is alone is what does not fit.
      let refused =
        try first.map { (first) throws(StorageError) in try take(first) }
        ?? [StorageError("list \(last.id)", error.reason, kind: .unreadable)]
      return try refused + take(rest, parts: parts, isWhole: isWhole)
    }
  }

  private static func take(
    _ change: ArchiveChange, _ parts: Set<String>, _ isWhole: Bool, _ connection: any SQLConnection
  ) throws(SQLError) {
    let deleted = try Self.deleted(change.archives, connection)
    try Self.update(
      change.entries.filter { !deleted.contains($0.id) }, removing: change.gone.map(\.text), connection)
    try connection.runEach(
      "UPDATE archive SET replaced = clock_timestamp() WHERE id = ? AND generation != ? AND replaced IS NULL",
      change.archives.map { Array($0.values.prefix(2)) })
    let names = ArchiveRow.columns.split(separator: ", ")
    try connection.runEach(
      "INSERT INTO archive (\(ArchiveRow.columns)) VALUES (\(names.map { _ in "?" }.joined(separator: ", "))) "
        + "ON CONFLICT (id, generation) DO UPDATE SET replaced = NULL, "
        + names.dropFirst(2).map { "\($0) = excluded.\($0)" }.joined(separator: ", "),
      change.archives.map(\.values))
    try connection.runEach(
      "UPDATE archive SET replaced = clock_timestamp() WHERE id = ? AND replaced IS NULL",
      change.gone.map { [.text($0.text)] })
    if isWhole { try connection.run("DELETE FROM part") }
    try connection.runEach(
      "INSERT INTO part (name) VALUES (?) ON CONFLICT DO NOTHING", parts.sorted().map { [.text($0)] })
  }

  /// Those of the archives that somebody has deleted.
  private static func deleted(
    _ archives: [ArchiveRow], _ connection: any SQLConnection
  ) throws(SQLError) -> Set<ImageID> {
    guard !archives.isEmpty else { return [] }
    let generations = Dictionary(archives.map { ($0.id, $0.generation) }) { first, _ in first }
    var found: Set<ImageID> = []
    try connection.run(
      "SELECT id, generation FROM archive WHERE id = ANY (CAST(? AS text[])) AND deletion IS NOT NULL",
      [.text(list(archives.map(\.id)))]
    ) { row in
      guard let id = row.id(0), generations[id] == UInt64(bitPattern: Int64(row.integer(1))) else { return }
      found.insert(id)
    }
    return found
  }

  /// The parts of what builders have written that were taken in.
  package func parts() throws(StorageError) -> Set<String> {
    var found: Set<String> = []
    try read { (connection) throws(SQLError) in
      found = []
      try connection.run("SELECT name FROM part") { if let name = $0.text(0) { found.insert(name) } }
    }
    return found
  }

  /// Forgets what nobody is answered with any more: archives that were replaced long ago, and what was told of changes.
  package func forgetFormer() throws(StorageError) {
    let former =
      "archive WHERE deletion IS NULL AND replaced < clock_timestamp() - make_interval(hours => \(Self.formerHours))"
    // Who has not listened for so long begins anew.
    let told = "change WHERE told < clock_timestamp() - interval '1 hour'"
    var isAny = false
    try read { (connection) throws(SQLError) in
      for old in [former, told] { try connection.run("SELECT 1 FROM \(old) LIMIT 1") { _ in isAny = true } }
    }
    guard isAny else { return }
    try write { (connection) throws(SQLError) in
      for old in [former, told] { try connection.run("DELETE FROM \(old)") }
    }
  }

  /// Ids as PostgreSQL reads an array of them (section 8.15 of its manual).
  static func list(_ ids: [ImageID]) -> String {
    let quoted = ids.map { id in
      "\"\(id.text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
    return "{\(quoted.joined(separator: ","))}"
  }
}

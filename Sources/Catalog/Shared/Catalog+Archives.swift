package import Files

/// Which archives a library in an object store has, in a catalog that servers share: none of them needs a list of all.
extension Catalog {
  /// Hours that an archive which was replaced is still answered for whoever names its generation.
  package static let formerHours = 24

  /// The archives of those of `ids` that are known, also those that were replaced a short while ago.
  package func archives(of ids: [ImageID]) throws(StorageError) -> [ImageID: ArchiveRows] {
    guard !ids.isEmpty else { return [:] }
    var found: [ImageID: ArchiveRows] = [:]
    let seconds = Self.formerHours * 3600
    try read { (connection) throws(SQLError) in
      found = [:]
      try connection.run(
        "SELECT \(ArchiveRow.columns), replaced IS NULL, "
          + "CAST(extract(epoch FROM replaced - clock_timestamp()) AS bigint) + \(seconds) FROM archive "
          + "WHERE id = ANY (CAST(? AS text[])) "
          + "AND (replaced IS NULL OR replaced > clock_timestamp() - make_interval(secs => \(seconds))) "
          + "ORDER BY replaced DESC",
        [.text(Self.list(ids))]
      ) { row in
        guard let archive = ArchiveRow(row) else { return }
        if row.text(11) == "t" {
          found[archive.id, default: ArchiveRows()].current = archive
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

  /// Takes in what images are now, all or nothing.
  /// - Parameters:
  ///   - parts: of what builders have written, those that are taken in whole with this.
  ///   - isWhole: whether they are all that count, and none of before.
  package func take(
    _ change: ArchiveChange, parts: Set<String> = [], isWhole: Bool = false
  ) throws(StorageError) {
    try write { (connection) throws(SQLError) in
      try Self.update(change.entries, removing: change.gone.map(\.text), connection)
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
    try write { (connection) throws(SQLError) in
      try connection.run(
        "DELETE FROM archive WHERE replaced < clock_timestamp() - make_interval(hours => \(Self.formerHours))"
      )
      // Who has not listened for so long begins anew.
      try connection.run("DELETE FROM change WHERE told < clock_timestamp() - interval '1 hour'")
    }
  }

  /// Ids as PostgreSQL reads an array of them (section 8.15 of its manual).
  private static func list(_ ids: [ImageID]) -> String {
    let quoted = ids.map { id in
      "\"\(id.text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
    return "{\(quoted.joined(separator: ","))}"
  }
}

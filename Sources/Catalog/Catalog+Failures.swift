package import TileStorage
package import ZigguratFiles

/// Images that could not be built. Archives do not contain these records, so they outlive a change of the other tables,
/// like origins.
extension Catalog {
  package func failures() throws(StorageError) -> [FailureRecord] {
    try rows("SELECT id, path, version, digest, builder, reason, time FROM failure") { row in
      guard let id = row.id(0), let path = row.text(1) else { return nil }
      return FailureRecord(
        id: id, path: path, version: row.text(2) ?? "", digest: row.text(3) ?? "",
        builder: row.text(4) ?? "", reason: row.text(5) ?? "", time: row.integer(6))
    }
  }

  package func update(
    failures: [FailureRecord], removing gone: [FailureRecord]
  ) throws(StorageError) {
    guard !failures.isEmpty || !gone.isEmpty else { return }
    try write { (connection) throws(SQLError) in
      try connection.runEach(
        "DELETE FROM failure WHERE path = ? AND id = ?",
        (gone + failures).map { [.text($0.path), .text($0.id.text)] })
      try connection.runEach(
        "INSERT INTO failure (id, path, version, digest, builder, reason, time) VALUES (?, ?, ?, ?, ?, ?, ?)",
        failures.map {
          [
            .text($0.id.text), .text($0.path), .text($0.version), .text($0.digest), .text($0.builder),
            .text($0.reason), .integer($0.time),
          ]
        })
    }
  }
}

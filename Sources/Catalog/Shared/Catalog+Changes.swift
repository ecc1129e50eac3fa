package import Files

/// Which images have changed since one has last asked, whoever changed them: a feed that loses none.
///
/// Each row of it carries the number of its transaction. Transactions end in another order than they have begun, so that
/// neither their numbers nor a counter say what is new; but below the first that was still under way at a moment none comes
/// any more. A place in the feed is such a number. What is behind it is told as soon as it can be seen, and asked for
/// again until all before it have ended.
extension Catalog {
  /// How far somebody has listened.
  package struct Place: Hashable, Sendable {
    /// All transactions below it have ended, and were told.
    let transaction: Int
    /// Of those behind it the rows that were told.
    let told: Set<Int>
  }

  /// What was changed behind a place.
  package struct Changes: Sendable {
    /// Nil where it is so much that everything may have changed.
    package let images: Set<ImageID>?
    package let place: Place
  }

  private static let most = 10_000
  private static let oldest = "CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)"

  /// Where the feed is now: what is read of the catalog behind this has all changes before it.
  package func place() throws(StorageError) -> Place {
    var oldest = 0
    try read { (connection) throws(SQLError) in
      try connection.run("SELECT \(Self.oldest)") { oldest = $0.integer(0) }
    }
    return Place(transaction: oldest, told: [])
  }

  /// What has changed behind a place, each image once.
  package func changes(behind place: Place) throws(StorageError) -> Changes {
    var oldest = place.transaction
    var rows: [(number: Int, id: ImageID?)] = []
    try read { (connection) throws(SQLError) in
      rows = []
      // One statement: what it sees and what it calls under way are of one moment.
      try connection.run(
        "SELECT \(Self.oldest), number, id FROM (SELECT 1) AS one LEFT JOIN change "
          + "ON transaction >= CAST(CAST(? AS text) AS xid8) LIMIT \(Self.most + 1)",
        [.text("\(place.transaction)")]
      ) { row in
        oldest = row.integer(0)
        if !row.isNull(1) { rows.append((row.integer(1), row.id(2))) }
      }
    }
    let fresh = rows.filter { !place.told.contains($0.number) }
    return Changes(
      images: rows.count > Self.most ? nil : Set(fresh.compactMap(\.id)),
      place: Place(transaction: oldest, told: Set(rows.map(\.number))))
  }

  /// The images that have changed behind a place and are there no more, however many they are, in no order.
  package func gone(behind place: Place) throws(StorageError) -> [ImageID] {
    var gone: [ImageID] = []
    try read { (connection) throws(SQLError) in
      gone = []
      try connection.run(
        "SELECT DISTINCT id FROM change WHERE transaction >= CAST(CAST(? AS text) AS xid8) "
          + "AND NOT EXISTS (SELECT 1 FROM archive WHERE archive.id = change.id AND \(Self.isThere))",
        [.text("\(place.transaction)")]
      ) { if let id = $0.id(0) { gone.append(id) } }
    }
    return gone
  }
}

package import ZigguratFiles

/// A feed of changed images. It loses no change of any server.
///
/// Each row has the number of its transaction. Transactions end in another order than they begin, so neither their
/// numbers nor a counter show which rows are new. A place in the feed is therefore a snapshot. It knows for every
/// transaction whether it had ended; the changes of all others are behind the place. Each change is reported once,
/// whatever other transactions are open.
extension Catalog {
  /// A position in the feed.
  package struct Place: Hashable, Sendable {
    /// The text of a `pg_snapshot`. Changes that are visible in it have been reported.
    let snapshot: String
  }

  /// Changes behind a place.
  package struct Changes: Sendable {
    /// The changed images; nil if there are so many that all may have changed.
    package let images: Set<ImageID>?
    package let place: Place
  }

  private static let maximum = 10_000
  private static let now = "CAST(pg_current_snapshot() AS text)"
  /// The condition for a row of the feed behind a place. It uses the place as a parameter twice.
  private static let isBehind =
    "change.transaction >= pg_snapshot_xmin(CAST(CAST(? AS text) AS pg_snapshot)) "
    + "AND NOT pg_visible_in_snapshot(change.transaction, CAST(CAST(? AS text) AS pg_snapshot))"

  /// Returns the present end of the feed. Later reads of the catalog see all changes before it.
  package func place() throws(StorageError) -> Place {
    // The fallback is the place before all changes.
    Place(snapshot: try rows("SELECT \(Self.now)", reading: .row) { $0.text(0) }.first ?? "1:1:")
  }

  /// Returns the changes behind a place, each image once.
  package func changes(behind place: Place) throws(StorageError) -> Changes {
    var snapshot = place.snapshot
    var images: Set<ImageID> = []
    var (count, isEarlier) = (0, false)
    try read(.row) { (connection) throws(SQLError) in
      images = []
      count = 0
      isEarlier = false
      let behind = SQLValue.text(place.snapshot)
      // One statement, so that its result belongs to its snapshot.
      try connection.run(
        "SELECT \(Self.now), id, CAST(pg_snapshot_xmax(pg_current_snapshot()) < "
          + "pg_snapshot_xmax(CAST(CAST(? AS text) AS pg_snapshot)) AS integer) "
          + "FROM (SELECT 1) AS one LEFT JOIN change ON \(Self.isBehind) LIMIT \(Self.maximum + 1)",
        [behind, behind, behind]
      ) { row in
        // A standby without the last transactions took over. It has reused their numbers.
        isEarlier = row.integer(2) == 1
        snapshot = row.text(0) ?? snapshot
        if row.isNull(1) { return }
        count += 1
        if let id = row.id(1) { images.insert(id) }
      }
    }
    return Changes(images: count > Self.maximum || isEarlier ? nil : images, place: Place(snapshot: snapshot))
  }

  /// Returns the changed images that no longer exist, and those with a former archive that was deleted or removed.
  /// - Parameter ids: at most a thousand.
  package func gone(among ids: [ImageID]) throws(StorageError) -> [ImageID] {
    try rows(
      "SELECT id FROM unnest(CAST(? AS text[])) AS asked (id) WHERE \(Self.hasGone("asked"))",
      [.text(Self.list(ids))], reading: .row
    ) { $0.id(0) }
  }

  /// Returns the condition for rows whose id has no image, or had another one that was removed or deleted.
  private static func hasGone(_ rows: String) -> String {
    "(NOT EXISTS (SELECT 1 FROM archive AS own WHERE own.id = \(rows).id AND \(isThere)) "
      + "OR EXISTS (SELECT 1 FROM archive AS own WHERE own.id = \(rows).id AND (deletion IS NOT NULL OR gone)))"
  }

  /// Calls `body` with the images that lost an archive between two places, in no particular order. An image may be
  /// repeated.
  /// - Parameter body: called with as many ids as are in memory at once.
  package func gone(
    between first: Place, and last: Place, _ body: ([ImageID]) -> Void
  ) throws(StorageError) {
    var heard = 0
    while true {
      let page = try rows(
        "SELECT number, id, CAST(\(Self.hasGone("change")) AS integer) FROM change WHERE number > ? AND \(Self.isBehind) "
          + "AND pg_visible_in_snapshot(change.transaction, CAST(CAST(? AS text) AS pg_snapshot)) "
          + "ORDER BY number LIMIT \(Self.maximum)",
        [.integer(heard), .text(first.snapshot), .text(first.snapshot), .text(last.snapshot)]
      ) { (number: $0.integer(0), gone: $0.integer(2) == 1 ? $0.id(1) : nil) }
      heard = page.last?.number ?? heard
      let gone = page.compactMap(\.gone)
      if !gone.isEmpty { body(gone) }
      if page.count < Self.maximum { return }
    }
  }

  /// Calls `body` with the images that lost an archive since a time, at most a day ago, each once.
  /// - Parameters:
  ///   - time: seconds since 1970.
  ///   - body: called with as many ids as are in memory at once.
  package func gone(since time: Int, _ body: ([ImageID]) -> Void) throws(StorageError) {
    // The names of deletions begin with their time.
    let name = String(time, radix: 16)
    var last = ""
    while true {
      let page = try rows(
        "SELECT id FROM (SELECT id FROM archive WHERE deletion > ?1 UNION SELECT id FROM archive "
          + "WHERE replaced > to_timestamp(?2) AND \(Self.hasGone("archive"))) AS went WHERE id > ?3 "
          + "ORDER BY id LIMIT \(Self.maximum)",
        [.text(name), .integer(time), .text(last)]
      ) { $0.text(0) ?? "" }
      last = page.last ?? last
      let gone = page.compactMap(ImageID.init)
      if !gone.isEmpty { body(gone) }
      if page.count < Self.maximum { return }
    }
  }
}

package import ZigguratFiles

/// A feed of changed images. It loses no change, whichever server makes it.
///
/// Each row of it carries its transaction. Transactions end in another order than they have begun, so that neither their
/// numbers nor a counter say what is new. A place in the feed is therefore a snapshot, which says of every transaction
/// whether it had ended at a moment: behind it is what had not. Each change is told once, whatever else is open meanwhile.
extension Catalog {
  /// A position in the feed.
  package struct Place: Hashable, Sendable {
    /// PostgreSQL's text of it ("pg_snapshot"): what it sees was told.
    let snapshot: String
  }

  /// Changes behind a place.
  package struct Changes: Sendable {
    /// The changed images; nil if there are so many that all may have changed.
    package let images: Set<ImageID>?
    package let place: Place
  }

  private static let most = 10_000
  private static let now = "CAST(pg_current_snapshot() AS text)"
  /// The condition for a row of the feed behind a place, which is the parameter twice.
  private static let isBehind =
    "change.transaction >= pg_snapshot_xmin(CAST(CAST(? AS text) AS pg_snapshot)) "
    + "AND NOT pg_visible_in_snapshot(change.transaction, CAST(CAST(? AS text) AS pg_snapshot))"

  /// Returns the present end of the feed. Later reads of the catalog see all changes before it.
  package func place() throws(StorageError) -> Place {
    // Behind which all is.
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
      // One statement: what it sees is what its snapshot says.
      try connection.run(
        "SELECT \(Self.now), id, CAST(pg_snapshot_xmax(pg_current_snapshot()) < "
          + "pg_snapshot_xmax(CAST(CAST(? AS text) AS pg_snapshot)) AS integer) "
          + "FROM (SELECT 1) AS one LEFT JOIN change ON \(Self.isBehind) LIMIT \(Self.most + 1)",
        [behind, behind, behind]
      ) { row in
        // A standby took over that had not heard all: other transactions have got those numbers.
        isEarlier = row.integer(2) == 1
        snapshot = row.text(0) ?? snapshot
        if row.isNull(1) { return }
        count += 1
        if let id = row.id(1) { images.insert(id) }
      }
    }
    return Changes(images: count > Self.most || isEarlier ? nil : images, place: Place(snapshot: snapshot))
  }

  /// Returns those of the changed images that do not exist any more, and those with a former archive that was deleted or
  /// removed.
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

  /// The images that have changed between two places and of which something has gone, however many they are, in no order and maybe
  /// more than once.
  /// - Parameter body: gets some of them, as many as are in memory together.
  package func gone(
    between first: Place, and last: Place, _ body: ([ImageID]) -> Void
  ) throws(StorageError) {
    var heard = 0
    while true {
      let page = try rows(
        "SELECT number, id, CAST(\(Self.hasGone("change")) AS integer) FROM change WHERE number > ? AND \(Self.isBehind) "
          + "AND pg_visible_in_snapshot(change.transaction, CAST(CAST(? AS text) AS pg_snapshot)) "
          + "ORDER BY number LIMIT \(Self.most)",
        [.integer(heard), .text(first.snapshot), .text(first.snapshot), .text(last.snapshot)]
      ) { (number: $0.integer(0), gone: $0.integer(2) == 1 ? $0.id(1) : nil) }
      heard = page.last?.number ?? heard
      let gone = page.compactMap(\.gone)
      if !gone.isEmpty { body(gone) }
      if page.count < Self.most { return }
    }
  }

  /// The images of which something went since a time, the last day's at most, each once.
  /// - Parameters:
  ///   - time: seconds since 1970.
  ///   - body: gets some of them, as many as are in memory together.
  package func gone(since time: Int, _ body: ([ImageID]) -> Void) throws(StorageError) {
    // As deletions are called: by their time, then a number.
    let name = String(time, radix: 16)
    var last = ""
    while true {
      let page = try rows(
        "SELECT id FROM (SELECT id FROM archive WHERE deletion > ?1 UNION SELECT id FROM archive "
          + "WHERE replaced > to_timestamp(?2) AND \(Self.hasGone("archive"))) AS went WHERE id > ?3 "
          + "ORDER BY id LIMIT \(Self.most)",
        [.text(name), .integer(time), .text(last)]
      ) { $0.text(0) ?? "" }
      last = page.last ?? last
      let gone = page.compactMap(ImageID.init)
      if !gone.isEmpty { body(gone) }
      if page.count < Self.most { return }
    }
  }
}

import TileStorage
package import ZigguratFiles

/// The images of a listing.
package enum ListScope: Hashable, Sendable {
  /// Single images and books. A book is listed by its cover.
  case items
  /// The items below a folder, at any depth.
  case folder(ImageID)
  /// A book's pages.
  case book(ImageID)

  /// The folder or book.
  package var place: ImageID? {
    switch self {
    case .items: nil
    case .folder(let id), .book(let id): id
    }
  }
}

/// The scope of a count, and its connection if each connection sees its own changes.
struct CountedScope: Hashable {
  let scope: ListScope
  let connection: ObjectIdentifier?
}

/// The number of rows in a certain state of a database.
struct ListedCount {
  let state: DatabaseState
  let count: Int
  let counted: ContinuousClock.Instant
}

extension Catalog {
  /// One page of a listing in an order.
  package struct Ordered: Sendable {
    package var entries: [CatalogEntry] = []
    /// The number of images on all pages.
    package var total = 0
    /// The cursor of the next page; nil on the last.
    package var next: String?
  }

  /// Returns at most `limit` images in an order. Images with equal keys are sorted by id. The descending order of names
  /// also reverses the ids.
  /// - Parameters:
  ///   - cursor: the cursor from the previous page. An invalid cursor starts at the first page.
  ///   - text: a search. Only matching images, and books with a matching page, are listed.
  package func list(
    _ scope: ListScope = .items, by order: ListOrder = .standard, after cursor: String?, limit: Int,
    containing text: String? = nil
  ) throws(StorageError) -> Ordered {
    let terms = text.map(SearchTerms.init)
    if let terms, terms.isEmpty { return Ordered() }
    let key = order.expression(in: scope)
    let cursor = cursor.flatMap(ListCursor.init).flatMap { $0.order == order ? $0 : nil }
    let ranges = ListRange.ranges(behind: cursor, order, key)
    let isWhole = scope == .items && text == nil
    var result = Ordered()
    try read(isWhole && order == .standard ? .ordinary : .search) { (connection) throws(SQLError) in
      result = Ordered()
      let (condition, values) = Self.condition(scope)
      var last: ListCursor?
      var count = 0
      // The key is read behind the columns of an entry.
      let width = Int32(CatalogSchema.columns.split(separator: ",").count)
      let selection = "SELECT \(CatalogSchema.columns), CAST(\(key) AS TEXT) AS goes_by FROM "
      func take(_ row: any SQLRow) {
        count += 1
        guard count <= limit else { return }
        if let entry = CatalogSchema.entry(row) { result.entries.append(entry) }
        last = ListCursor(key: row.text(width), id: row.text(0) ?? "", order: order)
      }
      func list() throws(SQLError) {
        // One range after the other. Each is read along an index, however deep in the list it begins.
        for range in ranges where count <= limit {
          try connection.run(
            selection + "image WHERE \(condition)\(range.condition) ORDER BY \(range.sorting) LIMIT ?",
            values + range.values + [.integer(limit + 1 - count)], take)
        }
      }
      /// - Returns: whether all wanted images were found.
      func lookThrough(_ window: Int, for choice: SearchChoice) throws(SQLError) -> Bool {
        var seen = 0
        for range in ranges where count <= limit && seen < window {
          let rows = "FROM image WHERE \(condition)\(range.condition)"
          let part = values + range.values + [.integer(window - seen)]
          // Rows come in the order of the range and are checked one by one.
          try connection.run(
            selection
              + "(SELECT * \(rows) ORDER BY \(range.sorting) LIMIT ?) AS image WHERE \(choice.condition) LIMIT ?",
            part + choice.values + [.integer(limit + 1 - count)], take)
          guard count <= limit else { return true }
          seen += try connection.integer("SELECT count(*) FROM (SELECT 1 \(rows) LIMIT ?) AS part", part) ?? 0
        }
        return count > limit || seen < window
      }
      guard let terms else {
        result.total = try self.count(scope, condition, values, connection)
        try list()
        if count > limit { result.next = last?.text }
        return
      }
      for isFarAway in [false, true] {
        result = Ordered()
        count = 0
        let choice = try connection.choice(of: terms, in: scope, limit: limit + 1, isFarAway: isFarAway)
        guard let choice else { return }
        if let window = choice.window {
          guard try lookThrough(window, for: choice) else { continue }
        } else {
          // Without an index, each range would repeat the whole search. Sorting only the numbers is faster than sorting
          // all columns of a listing.
          let range = ListRange.whole(behind: cursor, order, key)
          try connection.run(
            selection
              + "image WHERE number IN (SELECT number FROM image WHERE \(condition) AND \(choice.condition)"
              + "\(range.condition) ORDER BY \(range.sorting) LIMIT ?) ORDER BY \(range.sorting)",
            values + choice.values + range.values + [.integer(limit + 1)], take)
        }
        if let total = choice.total {
          result.total = total
        } else {
          let counting = "SELECT count(*) FROM image WHERE \(condition) AND \(choice.condition)"
          result.total = try connection.integer(counting, values + choice.values) ?? 0
        }
        break
      }
      if count > limit { result.next = last?.text }
    }
    if isWhole, order.key != .name, result.total >= Self.many { database.isListed(by: order) }
    return result
  }

  /// The number of rows from which counting or sorting takes a noticeable time.
  private static let many = 50_000

  /// Returns the number of rows in a scope. Counting reads a whole index, so it is repeated only after a change, and
  /// for very many rows only after some seconds.
  private func count(
    _ scope: ListScope, _ condition: String, _ values: [SQLValue], _ connection: any SQLConnection
  ) throws(SQLError) -> Int {
    let state = try connection.state()
    let began = ContinuousClock.now
    let counted = CountedScope(scope: scope, connection: state.connection)
    if let known = listed.withLock({ $0.value(for: counted) }) {
      let isFresh = began - known.counted < .seconds(10) && known.count >= Self.many
      if known.state == state || isFresh { return known.count }
    }
    let count = try connection.integer("SELECT count(*) FROM image WHERE \(condition)", values) ?? 0
    let fresh = ListedCount(state: state, count: count, counted: began)
    listed.withLock { $0.insert(fresh, for: counted, weight: 1) }
    return count
  }

  static func condition(_ scope: ListScope) -> (String, [SQLValue]) {
    switch scope {
    case .items: return ("shelf IS NOT NULL", [])
    case .book(let book): return ("book = ? AND width IS NOT NULL", [.text(book.text)])
    case .folder(let folder):
      // All ids that begin with the folder and a slash ("0" is the byte after it). The index of shelves mixes folders
      // that differ only in leading zeros, so ids are compared, too. The id of a cover begins with the id of its book.
      let key = NaturalOrder.key("\(folder)/")
      return (
        "shelf > ? AND shelf < ? AND id > ? AND id < ?",
        [
          .text(key), .text("\(key.dropLast())0"), .text("\(folder)/"), .text("\(folder)0"),
        ]
      )
    }
  }
}

package import Files
import TileStorage

/// Which images a listing has.
package enum ListScope: Hashable, Sendable {
  /// Single images and books, of which each is one, by its cover.
  case items
  /// Of these the ones below a folder, at any depth.
  case folder(ImageID)
  /// A book's pages.
  case book(ImageID)

  /// The folder or book.
  package var place: ImageID? {
    get {
      switch self {
      case .items: nil
      case .folder(let id), .book(let id): id
      }
    }
    set {
      switch (self, newValue) {
      case (.folder, let id?): self = .folder(id)
      case (.book, let id?): self = .book(id)
      default: self = .items
      }
    }
  }
}

/// How many rows were listed in a state of a database.
struct ListedCount {
  let state: DatabaseState
  let count: Int
}

extension Catalog {
  /// One page of a listing in an order.
  package struct Ordered: Sendable {
    package var entries: [CatalogEntry] = []
    /// Of all pages together.
    package var total = 0
    /// The cursor of the next page; nil on the last.
    package var next: String?
  }

  /// Images in an order, those of one key by id, at most `limit`; names the other way round altogether.
  /// - Parameters:
  ///   - cursor: what the page before gave; what is none of its kind begins anew.
  ///   - text: only images that a search for it finds, and books of which it finds a page.
  package func list(
    _ scope: ListScope = .items, by order: ListOrder = .standard, after cursor: String?, limit: Int,
    containing text: String? = nil
  ) throws(StorageError) -> Ordered {
    let words = text.map(SearchWords.init)
    if let words, words.isEmpty { return Ordered() }
    let key = order.expression(in: scope)
    let (place, more) = Self.place(behind: cursor.flatMap(ListCursor.init), order, key)
    let way = order.isDescending ? "DESC" : "ASC"
    let sorting =
      order.key == .name ? "\(key) \(way), id \(way)" : "\(key) IS NULL, \(key) \(way), name_key, id"
    let isWhole = scope == .items && text == nil
    var result = Ordered()
    try read(isSearch: !isWhole || order != .standard) { (connection) throws(SQLError) in
      result = Ordered()
      var (condition, values) = Self.condition(scope)
      if let words, let (found, value) = connection.finding(words, in: scope) {
        switch scope {
        case .book: condition += " AND number IN (\(found))"
        case .items, .folder:
          condition += " AND number IN (SELECT coalesce(cover, number) FROM image WHERE number IN (\(found)))"
        }
        values.append(value)
      }
      if isWhole {
        result.total = try countListed(connection)
      } else {
        try connection.run("SELECT count(*) FROM image WHERE \(condition)", values) {
          result.total = $0.integer(0)
        }
      }
      var last: ListCursor?
      var count = 0
      // The key is read behind the columns of an entry.
      let width = Int32(CatalogSchema.columns.split(separator: ",").count)
      try connection.run(
        "SELECT \(CatalogSchema.columns), CAST(\(key) AS TEXT) FROM image WHERE \(condition)\(place) "
          + "ORDER BY \(sorting) LIMIT ?", values + more + [.integer(limit + 1)]
      ) { row in
        count += 1
        guard count <= limit else { return }
        if let entry = CatalogSchema.entry(row) { result.entries.append(entry) }
        last = ListCursor(key: row.text(width), id: row.text(0) ?? "")
      }
      if count > limit { result.next = last?.text }
    }
    return result
  }

  /// How much is listed in all: an index is read through for it, but only when something has changed.
  private func countListed(_ connection: any SQLConnection) throws(SQLError) -> Int {
    let state = try connection.state()
    if let known = listed.withLock({ $0 }), known.state == state { return known.count }
    var count = 0
    try connection.run("SELECT count(*) FROM image WHERE shelf IS NOT NULL") { count = $0.integer(0) }
    listed.withLock { [count] in $0 = ListedCount(state: state, count: count) }
    return count
  }

  static func condition(_ scope: ListScope) -> (String, [SQLValue]) {
    switch scope {
    case .items: return ("shelf IS NOT NULL", [])
    case .book(let book): return ("book = ? AND width IS NOT NULL", [.text(book.text)])
    case .folder(let folder):
      // All that begins with the folder and a slash, of which "0" is the next byte; by the index of shelves, where
      // folders that differ by leading zeros alone stand together.
      let key = NaturalOrder.key("\(folder)/")
      return (
        "shelf > ? AND shelf < ? AND item > ? AND item < ?",
        [
          .text(key), .text("\(key.dropLast())0"), .text("\(folder)/"), .text("\(folder)0"),
        ]
      )
    }
  }

  /// What is behind a cursor, as a condition.
  private static func place(
    behind cursor: ListCursor?, _ order: ListOrder, _ key: String
  ) -> (String, [SQLValue]) {
    guard let cursor else { return ("", []) }
    let (id, natural) = (SQLValue.text(cursor.id), SQLValue.text(NaturalOrder.key(cursor.id)))
    guard let last = cursor.key else {
      return (" AND \(key) IS NULL AND (name_key, id) > (?, ?)", [natural, id])
    }
    let sign = order.isDescending ? "<" : ">"
    // What is a number is compared as one.
    let value: SQLValue
    switch order.key {
    case .name: return (" AND (\(key), id) \(sign) (?, ?)", [.text(last), id])
    case .date, .title: value = .text(last)
    case .added, .size: value = .integer(Int(last) ?? 0)
    }
    return (
      " AND (\(key) IS NULL OR \(key) \(sign) ? OR (\(key) = ? AND (name_key, id) > (?, ?)))",
      [value, value, natural, id]
    )
  }
}

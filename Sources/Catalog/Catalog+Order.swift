package import Files
import TileStorage

extension Catalog {
  /// One page of a listing in an order.
  package struct Ordered: Sendable {
    package var entries: [CatalogEntry] = []
    /// Of all pages together.
    package var total = 0
    /// The cursor of the next page; nil on the last.
    package var next: String?
  }

  /// Images in an order, those of one key by id, at most `limit`.
  /// - Parameters:
  ///   - cursor: what the page before gave; what is none of its kind begins anew.
  ///   - folder: only images below it, at any depth.
  ///   - text: only images that a search for it finds.
  package func list(
    by order: ListOrder, after cursor: String?, limit: Int, below folder: ImageID?, containing text: String?
  ) throws(StorageError) -> Ordered {
    var (condition, values): (String, [SQLiteValue]) = ("width IS NOT NULL", [])
    if let folder {
      // All that begins with the folder and a slash, of which "0" is the next byte.
      condition += " AND id > ? AND id < ?"
      values += [.text("\(folder)/"), .text("\(folder)0")]
    }
    if let text {
      guard let query = SearchWords(text).query else { return Ordered() }
      condition += " AND number IN (SELECT rowid FROM words WHERE words MATCH ?)"
      values.append(.text(query))
    }
    let (place, more) = Self.place(behind: cursor.flatMap(ListCursor.init), order)
    let key = order.expression
    let way = order.isDescending ? "DESC" : "ASC"
    let (all, behind) = (values, values + more)
    var result = Ordered()
    try read(isSearch: true) { (connection) throws(SQLiteError) in
      result = Ordered()
      try connection.run("SELECT count(*) FROM image WHERE \(condition)", all) {
        result.total = $0.integer(0)
      }
      var last: ListCursor?
      var count = 0
      // The key is read behind the columns of an entry.
      let width = Int32(CatalogSchema.columns.split(separator: ",").count)
      try connection.run(
        "SELECT \(CatalogSchema.columns), CAST(\(key) AS TEXT) FROM image WHERE \(condition)\(place) "
          + "ORDER BY \(key) IS NULL, \(key) \(way), id LIMIT ?", behind + [.integer(limit + 1)]
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

  /// What is behind a cursor, as a condition.
  private static func place(behind cursor: ListCursor?, _ order: ListOrder) -> (String, [SQLiteValue]) {
    guard let cursor else { return ("", []) }
    let key = order.expression
    guard let last = cursor.key else { return (" AND \(key) IS NULL AND id > ?", [.text(cursor.id)]) }
    // What is a number is compared as one.
    let value: SQLiteValue =
      switch order.key {
      case .name, .date: .text(last)
      case .added, .size: .integer(Int(last) ?? 0)
      }
    let sign = order.isDescending ? "<" : ">"
    return (
      " AND (\(key) IS NULL OR \(key) \(sign) ? OR (\(key) = ? AND id > ?))",
      [value, value, .text(cursor.id)]
    )
  }
}

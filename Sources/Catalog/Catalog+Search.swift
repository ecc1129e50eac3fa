import TileStorage
package import ZigguratFiles

extension Catalog {
  /// One page of what was found.
  package struct Findings: Sendable {
    /// In natural order, of a book its cover.
    package var entries: [CatalogEntry] = []
    /// The number of images on all pages.
    package var total = 0
    package var hasMore = false
  }

  /// Images behind `cursor` in natural order, at most `limit`, that have a word beginning with each of `text`'s in id,
  /// title, caption, creator, date, place or keywords; case and accents do not count. Of a book that has such pages, or of
  /// which that is said, its cover.
  package func search(_ text: String, after cursor: ListCursor?, limit: Int) throws(StorageError) -> Findings
  {
    let terms = SearchTerms(text)
    guard !terms.isEmpty else { return Findings() }
    let start = [SQLValue.text(cursor?.key ?? ""), .text(cursor?.id ?? "")]
    var result = Findings()
    try read(.search) { (connection) throws(SQLError) in
      result = Findings()
      let found = try connection.found(terms, behind: start, limit: limit + 1)
      result.total = found.total
      result.hasMore = found.page.count > limit
      let page = found.page.prefix(limit)
      guard !page.isEmpty else { return }
      result.entries = try connection.rows(
        "SELECT \(CatalogSchema.columns) FROM image WHERE number IN (\(page.map { _ in "?" }.joined(separator: ", "))) "
          + "ORDER BY shelf, id", page.map { .integer($0) }, CatalogSchema.entry)
    }
    return result
  }
}

import TileStorage
package import ZigguratFiles

extension Catalog {
  /// One page of search results.
  package struct Findings: Sendable {
    /// The images in natural order. A book is listed by its cover.
    package var entries: [CatalogEntry] = []
    /// The number of images on all pages.
    package var total = 0
    package var hasMore = false
  }

  /// Returns at most `limit` images behind `cursor` in natural order that match a search. Each term of `text` must
  /// begin a word of the id, title, caption, creator, date, place or keywords. Case and accents are ignored. A book
  /// that matches itself, or by a page, is returned as its cover.
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

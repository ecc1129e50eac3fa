import TileStorage
package import ZigguratCatalog
package import ZigguratFiles

/// One page of the library.
package struct LibraryListing {
  package let entries: [CatalogEntry]
  /// The number of images on all pages.
  package let total: Int
  /// The cursor of the next page; nil on the last.
  package let next: String?

  package init(entries: [CatalogEntry], total: Int, next: String?) {
    self.entries = entries
    self.total = total
    self.next = next
  }
}

/// The images of a library to list, and their order.
package struct LibrarySelection: Sendable {
  /// The search terms; nil for all images.
  package var text: String?
  package var scope = ListScope.items
  package var order = ListOrder.standard

  package init() {}

  /// Whether all images are selected.
  package var isWhole: Bool { scope == .items && terms == nil }

  var terms: String? { text.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 } }
}

extension Catalog {
  /// Returns a page of the selected images from the catalog.
  /// - Parameter present: returns the current entries, without those of removed images.
  package func list(
    _ selection: LibrarySelection, after cursor: String?, limit: Int,
    _ present: ([CatalogEntry]) -> [CatalogEntry] = { $0 }
  ) throws(StorageError) -> LibraryListing {
    if selection.scope == .items, selection.order == .standard, let terms = selection.terms {
      let found = try search(terms, after: cursor.flatMap(ListCursor.init), limit: limit)
      let next = found.hasMore ? found.entries.last.map { ListCursor(behind: $0).text } : nil
      return LibraryListing(entries: present(found.entries), total: found.total, next: next)
    }
    let found = try list(
      selection.scope, by: selection.order, after: cursor, limit: limit, containing: selection.terms)
    return LibraryListing(entries: present(found.entries), total: found.total, next: found.next)
  }
}

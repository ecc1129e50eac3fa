package import Catalog
package import Files
import TileStorage

/// One page of the library.
package struct LibraryListing {
  package let entries: [CatalogEntry]
  /// Of all pages together.
  package let total: Int
  /// The cursor of the next page.
  package let next: String?

  package init(entries: [CatalogEntry], total: Int, next: String?) {
    (self.entries, self.total, self.next) = (entries, total, next)
  }
}

/// What of a library is listed, and in which order.
package struct LibrarySelection: Sendable {
  /// Words that images are to have; nil for all images.
  package var text: String?
  package var folder: ImageID?
  package var order = ListOrder.standard

  package init() {}

  var words: String? { text.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 } }
}

extension Library {
  /// A page of what was selected, at most `limit` images after `cursor`.
  package func list(
    _ selection: LibrarySelection, after cursor: String?, limit: Int
  ) throws(StorageError) -> LibraryListing {
    guard selection.folder != nil || selection.order != .standard else {
      return try list(after: cursor, limit: limit, containing: selection.text)
    }
    let found = try catalog.list(
      by: selection.order, after: cursor, limit: limit, below: selection.folder, containing: selection.words)
    return LibraryListing(entries: present(found.entries), total: found.total, next: found.next)
  }

  /// Images after `cursor` by id, at most `limit`; with `text`, those that have words beginning with each
  /// of its words.
  package func list(after cursor: String?, limit: Int, containing text: String?) throws(StorageError)
    -> LibraryListing
  {
    let words = text.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    guard let words else { return try page(cursor, limit) }
    return try search(words, cursor, limit)
  }

  private func search(_ text: String, _ cursor: String?, _ limit: Int) throws(StorageError) -> LibraryListing
  {
    var found = try catalog.search(text, after: cursor, limit: limit)
    let last = found.entries.last?.id
    found.entries = present(found.entries)
    return LibraryListing(entries: found.entries, total: found.total, next: found.hasMore ? last?.text : nil)
  }

  /// What the catalog knows as it is now: without what is gone since, which may be in the catalog still.
  private func present(_ entries: [CatalogEntry]) -> [CatalogEntry] {
    let table = current
    var patience = WordPatience(failures: 1)
    return entries.compactMap { known in
      guard let entry = table.entry(known.id) else { return nil }
      guard known.stamp != entry.stamp else { return known }
      return (try? open.archive(entry)).map { patience.catalogEntry(entry, $0) }
    }
  }

  /// By the folders' own names, so that it is whole also while the catalog is being made.
  private func page(_ cursor: String?, _ limit: Int) throws(StorageError) -> LibraryListing {
    let table = current
    let start = cursor.map { cursor in table.ids.partitioningIndex { $0.follows(cursor) } } ?? 0
    let end = min(table.ids.count, start + limit)
    let known = try catalog.entries(Array(table.ids[start..<end]))
    let byID = Dictionary(known.map { ($0.id, $0) }) { first, _ in first }
    var patience = WordPatience(failures: 1)
    let entries = table.entries[start..<end].map { entry -> CatalogEntry in
      let stamp = entry.stamp
      if let known = byID[entry.id], known.stamp == stamp { return known }
      guard let archive = try? open.archive(entry) else {
        return CatalogEntry(unreadable: entry.id, stamp: stamp)
      }
      return patience.catalogEntry(entry, archive)
    }
    // An archive that cannot be read is told of where it is asked for; it must not hide the others.
    return LibraryListing(
      entries: entries.filter { $0.pyramid != nil },
      total: table.ids.count - (try catalog.unreadableCount()),
      next: end < table.ids.count ? table.ids[end - 1].text : nil)
  }
}

extension [ImageID] {
  /// The first index whose element satisfies `predicate`, where all that follow do, too.
  func partitioningIndex(_ predicate: (ImageID) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

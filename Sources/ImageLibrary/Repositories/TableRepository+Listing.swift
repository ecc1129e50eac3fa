import TileStorage
import ZigguratCatalog
package import ZigguratFiles

extension TableRepository {
  package func list(
    _ selection: LibrarySelection, after cursor: String?, limit: Int
  ) throws(StorageError) -> LibraryListing {
    if isAway { throw .libraryIsAway }
    let isPlain = selection.scope == .items && selection.order == .standard && selection.terms == nil
    if isPlain, try isListedLate { return try page(cursor, limit) }
    return try catalog.list(selection, after: cursor, limit: limit, present)
  }

  /// Whether the catalog is still being created and does not contain all images.
  private var isListedLate: Bool {
    get throws(StorageError) {
      catalog.needsUpdate ? try catalog.count() != current.ids.count : false
    }
  }

  /// Returns the current entries for entries of the catalog, without those of removed images.
  private func present(_ entries: [CatalogEntry]) -> [CatalogEntry] {
    let table = current
    var policy = MetadataReadPolicy(failures: 1)
    return entries.compactMap { known in
      guard let entry = table.entry(known.id) else { return nil }
      guard known.fileVersion != entry.fileVersion else { return known }
      return (try? open.archive(entry)).map { archive in
        var fresh = policy.catalogEntry(entry, archive)
        fresh.cover = known.cover
        return fresh
      }
    }
  }

  /// Returns a page in the order of the file names. It is complete even while the catalog is being created, but its
  /// total counts each page of a book.
  private func page(_ cursor: String?, _ limit: Int) throws(StorageError) -> LibraryListing {
    let table = current
    let cursor = cursor.flatMap(ListCursor.init)
    var at = cursor.map { cursor in table.ids.partitioningIndex { $0.follows(cursor.id) } } ?? 0
    // Books whose covers are already listed.
    var books: Set<ImageID> = []
    if at > 0, cursor != nil, let book = try known(at - 1..<at, of: table).first?.book { books.insert(book) }
    var items: [CatalogEntry] = []
    while at < table.ids.count, items.count < limit {
      for var entry in try known(at..<min(at + max(limit, 50), table.ids.count), of: table)
      where items.count < limit {
        at += 1
        // An archive that cannot be read is reported when it is requested; it must not hide the others.
        if entry.pyramid == nil { continue }
        if let book = entry.book {
          guard books.insert(book).inserted else { continue }
          let first = table.ids.partitioningIndex { $0.follows("\(book)/") }
          let pages = table.ids[first...].prefix { $0.isBelow(book) }.count
          entry.cover = CatalogEntry.Cover(pages: pages, title: entry.metadata.title)
        }
        items.append(entry)
      }
    }
    return LibraryListing(
      entries: items, total: table.ids.count - (try catalog.unreadableCount()),
      next: at < table.ids.count ? items.last.map { ListCursor(behind: $0).text } : nil)
  }

  /// Returns the entries of images in the table, from the catalog or else from their archives.
  private func known(_ range: Range<Int>, of table: LibraryTable) throws(StorageError) -> [CatalogEntry] {
    let known = try catalog.entries(Array(table.ids[range]))
    let byID = Dictionary(known.map { ($0.id, $0) }) { first, _ in first }
    var policy = MetadataReadPolicy(failures: 1)
    return table.entries[range].map { entry -> CatalogEntry in
      let fileVersion = entry.fileVersion
      if let known = byID[entry.id], known.fileVersion == fileVersion { return known }
      guard let archive = try? open.archive(entry) else {
        return CatalogEntry(unreadable: entry.id, fileVersion: fileVersion)
      }
      return policy.catalogEntry(entry, archive)
    }
  }
}

extension [ImageID] {
  /// Returns the first index from which all elements satisfy `predicate`.
  func partitioningIndex(_ predicate: (ImageID) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

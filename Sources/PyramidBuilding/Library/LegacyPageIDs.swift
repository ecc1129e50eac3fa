package import TileStorage
package import ZigguratFiles

/// Pages of books that an earlier version called by their numbers, and that are in the library by their files' names
/// now.
package struct LegacyPageIDs {
  /// Sorted.
  package let ids: [ImageID]

  /// - Parameter met: the images that the builds have seen: a page whose build failed replaces none.
  package init(of scan: SourceScan, keeping met: SeenImages, in store: any ArchiveStore) {
    let there = Set(scan.sources.map(\.id))
    var names: [ImageID: [String: ImageID]] = [:]
    for source in scan.sources where met.has(source) {
      guard let book = source.book else { continue }
      names[book, default: [:]][source.path.split(separator: "/").last.map(String.init) ?? ""] = source.id
    }
    var ids: [ImageID] = []
    for (book, names) in names {
      // There were as many as there are, or some that are gone from the sources since.
      var (number, missing) = (1, 0)
      while number <= names.count || missing < 100 {
        let id = book.page(number)
        if there.contains(id) {
          missing = 0
        } else if let record = store.buildRecord(ofID: id) {
          missing = 0
          if record.folio == nil, record.page == number, names[record.sourceName] != nil { ids.append(id) }
        } else {
          missing += 1
        }
        number += 1
      }
    }
    self.ids = ids.sorted()
  }

  /// Moves them into the trash.
  /// - Returns: those that went, sorted, and why others did not.
  package func run(in store: any ArchiveStore) throws(StorageError) -> (
    ids: [ImageID], errors: [StorageError]
  ) {
    try store.trashAll(ids)
  }
}

import Synchronization
import TileStorage
import ZigguratCatalog
package import ZigguratFiles

// Updates of a repository's catalog from its table.
extension TableRepository {
  /// Updates the catalog's rows of these images.
  func updateCatalog(of ids: [ImageID]) throws(StorageError) {
    // If another server is the writer, it sees the same changes.
    guard !ids.isEmpty, catalog.isWriter, !isAway else { return }
    let result: Result<Void, StorageError> = images.updating.withLock { _ in
      let table = current
      var (found, gone): ([CatalogEntry], [ImageID]) = ([], [])
      var policy = MetadataReadPolicy(failures: 1)
      for id in ids {
        guard let entry = table.entry(id) else {
          gone.append(id)
          continue
        }
        do throws(StorageError) {
          found.append(policy.catalogEntry(entry, try entry.openOnce()))
        } catch {
          if lookForOutage() { return .failure(.libraryIsAway) }
          if table.isUnmounted(entry.path) { continue }
          found.append(Self.unreadable(entry, error))
        }
      }
      for entry in found { noteMetadata(of: entry) }
      images.wordless.withLock { $0.subtract(gone) }
      do throws(StorageError) {
        try catalog.update(found, removing: gone.map(\.text))
        if found.contains(where: { $0.book != nil }) { try updateBooks() }
        try countUnreadable()
        return .success(())
      } catch { return .failure(error) }
    }
    try result.get()
  }

  @discardableResult
  package func updateCatalog(
    readsAll: Bool, isCancelled: () -> Bool, unreadable: (StorageError) -> Void
  ) throws(StorageError) -> Int {
    guard catalog.isWriter, !isAway else { return 0 }
    let result: Result<Int, StorageError> = images.updating.withLock { _ in
      do throws(StorageError) {
        let fallen = images.delays.withLock { $0.fallen }
        let read = try update(current, readsAll, isCancelled, unreadable)
        if !isCancelled() { images.delays.withLock { $0.madeGood = fallen } }
        return .success(read)
      } catch { return .failure(error) }
    }
    return try result.get()
  }

  private func update(
    _ table: LibraryTable, _ readsAll: Bool, _ isCancelled: () -> Bool, _ unreadable: (StorageError) -> Void
  ) throws(StorageError) -> Int {
    let making = catalog.making
    var isKnown = [Bool](repeating: false, count: table.ids.count)
    // As in rows, because an untrusted catalog may contain invalid ids.
    var gone: [String] = []
    let needsReading = needsReading()
    try catalog.forEachFileVersion { id, fileVersion in
      guard let number = table.index(id) else {
        gone.append(String(decoding: id, as: UTF8.self))
        return
      }
      let entry = table.entries[number]
      isKnown[number] = !readsAll && fileVersion == entry.fileVersion && !needsReading(entry)
    }
    var read = 0
    var batch: [CatalogEntry] = []
    var policy = MetadataReadPolicy(failures: 3)
    for (number, entry) in table.entries.enumerated() where !isKnown[number] {
      if isCancelled() { return read }
      do throws(StorageError) {
        // The archive is not in use, so it is not counted among the open ones.
        batch.append(policy.catalogEntry(entry, try entry.openOnce()))
      } catch {
        // During an outage no image may be listed as unreadable.
        if lookForOutage() { throw error }
        if table.isUnmounted(entry.path) { continue }
        unreadable(error)
        batch.append(Self.unreadable(entry, error))
      }
      if let last = batch.last { noteMetadata(of: last) }
      read += 1
      if batch.count == 500 {
        try catalog.update(batch, removing: [])
        batch = []
      }
    }
    if !batch.isEmpty || !gone.isEmpty { try catalog.update(batch, removing: gone) }
    try updateBooks()
    try countUnreadable()
    catalog.isComplete(making)
    return read
  }

  /// Returns the entry of an unreadable archive. Permissions change without a change of the file, so such an archive is
  /// read again with the next update.
  private static func unreadable(_ entry: LibraryEntry, _ error: StorageError) -> CatalogEntry {
    CatalogEntry(unreadable: entry.id, fileVersion: error.isOfPermissions ? .refused : entry.fileVersion)
  }

  private func countUnreadable() throws(StorageError) {
    images.unreadableCount.store(try catalog.unreadableCount(), ordering: .relaxed)
  }

  package var unreadableArchives: (count: Int, example: String)? {
    let count = unreadableArchiveCount
    guard count > 0, let id = try? catalog.firstUnreadable(),
      let entry = current.entry(id)
    else { return nil }
    return (count, entry.path)
  }
}

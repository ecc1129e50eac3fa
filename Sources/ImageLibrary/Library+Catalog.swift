import Synchronization
import TileStorage
import ZigguratCatalog
package import ZigguratFiles

/// The catalog of a library: brought to what the table holds.
extension Library {
  /// Brings the catalog's rows of these images to what the table holds.
  func catalogue(_ ids: [ImageID]) throws(StorageError) {
    // Who writes for all sees the same.
    guard !ids.isEmpty, catalog.isWriter, !isAway else { return }
    let result: Result<Void, StorageError> = updating.withLock { _ in
      let table = current
      var (found, gone): ([CatalogEntry], [ImageID]) = ([], [])
      var patience = WordPatience(failures: 1)
      for id in ids {
        guard let entry = table.entry(id) else {
          gone.append(id)
          continue
        }
        do throws(StorageError) {
          found.append(patience.catalogEntry(entry, try entry.openOnce()))
        } catch {
          if lookForOutage() { return .failure(Self.outageError) }
          if table.isUnmounted(entry.path) { continue }
          found.append(Self.unreadable(entry, error))
        }
      }
      for entry in found { noteWords(of: entry) }
      wordless.withLock { $0.subtract(gone) }
      do throws(StorageError) {
        try catalog.update(found, removing: gone.map(\.text))
        if found.contains(where: { $0.book != nil }) { try describeBooks() }
        try countUnreadable()
        return .success(())
      } catch { return .failure(error) }
    }
    try result.get()
  }

  /// Brings the catalog to what the folders hold: reads the archives that are new or have changed.
  /// - Parameters:
  ///   - readsAll: also those that look unchanged.
  ///   - unreadable: told of each archive that could not be read.
  /// - Returns: how many archives were read.
  @discardableResult
  package func updateCatalog(
    readsAll: Bool = false, isCancelled: () -> Bool = { false },
    unreadable: (StorageError) -> Void = { _ in }
  ) throws(StorageError) -> Int {
    guard catalog.isWriter, !isAway else { return 0 }
    let result: Result<Int, StorageError> = updating.withLock { _ in
      do throws(StorageError) {
        if let rows { return .success(try rows.update(isCancelled: isCancelled, unreadable: unreadable)) }
        let fallen = delays.withLock { $0.fallen }
        let read = try update(current, readsAll, isCancelled, unreadable)
        if !isCancelled() { delays.withLock { $0.madeGood = fallen } }
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
    // As the rows have them: a catalog may be a stranger's.
    var gone: [String] = []
    // Permissions change without a change of the stamp. One call for each archive is too much for every update.
    let looksAtPermissions = source == nil && !hasLookedAtPermissions.exchange(true, ordering: .relaxed)
    try catalog.forEachStamp { id, stamp in
      guard let number = table.index(id) else {
        gone.append(String(decoding: id, as: UTF8.self))
        return
      }
      let entry = table.entries[number]
      isKnown[number] =
        !readsAll && stamp == entry.stamp && !(looksAtPermissions && readRefusal(entry.path) != nil)
    }
    hasNewsOfBooks.withLock { $0 = false }
    var read = 0
    var batch: [CatalogEntry] = []
    var patience = WordPatience(failures: 3)
    for (number, entry) in table.entries.enumerated() where !isKnown[number] {
      if isCancelled() { return read }
      do throws(StorageError) {
        // Not among the open ones, which are those in use.
        batch.append(patience.catalogEntry(entry, try entry.openOnce()))
      } catch {
        // Nothing of it is to be listed as unreadable.
        if lookForOutage() { throw error }
        if table.isUnmounted(entry.path) { continue }
        unreadable(error)
        batch.append(Self.unreadable(entry, error))
      }
      if let last = batch.last { noteWords(of: last) }
      read += 1
      if batch.count == 500 {
        try catalog.update(batch, removing: [])
        batch = []
      }
    }
    if !batch.isEmpty || !gone.isEmpty { try catalog.update(batch, removing: gone) }
    try describeBooks()
    try countUnreadable()
    catalog.isComplete(making)
    return read
  }

  /// Permissions change without a change of the file: its archive is read again with the next update.
  private static func unreadable(_ entry: LibraryEntry, _ error: StorageError) -> CatalogEntry {
    CatalogEntry(unreadable: entry.id, stamp: error.isOfPermissions ? .refused : entry.stamp)
  }

  private func countUnreadable() throws(StorageError) {
    unreadableCount.store(try catalog.unreadableCount(), ordering: .relaxed)
  }

  /// The archives of a folder that the last update of the catalog could not read: how many, and the path of one of them;
  /// `nil` if there are none.
  package var unreadableArchives: (count: Int, example: String)? {
    let count = unreadableCount.load(ordering: .relaxed)
    guard count > 0, rows == nil, let id = try? catalog.firstUnreadable(),
      let entry = current.entry(id)
    else { return nil }
    return (count, entry.path)
  }
}

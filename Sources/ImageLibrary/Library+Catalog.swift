import Catalog
package import Files
import Synchronization
import TileStorage

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
        let archive = try? entry.openOnce()
        if archive == nil {
          if lookForOutage() { return .failure(Self.outageError) }
          if table.isUnmounted(entry.path) { continue }
        }
        found.append(
          archive.map { patience.catalogEntry(entry, $0) }
            ?? CatalogEntry(unreadable: id, stamp: entry.stamp))
      }
      for entry in found { noteWords(of: entry) }
      wordless.withLock { $0.subtract(gone) }
      do throws(StorageError) {
        try catalog.update(found, removing: gone.map(\.text))
        if found.contains(where: { $0.book != nil }) { try describeBooks() }
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
    try catalog.forEachStamp { id, stamp in
      guard let number = table.index(id) else {
        gone.append(String(decoding: id, as: UTF8.self))
        return
      }
      isKnown[number] = !readsAll && stamp == table.entries[number].stamp
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
        batch.append(CatalogEntry(unreadable: entry.id, stamp: entry.stamp))
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
    catalog.isComplete(making)
    return read
  }
}

import Synchronization
import TileStorage
package import ZigguratFiles

// The table sees at once what is deleted and restored.
extension FolderRepository: DeletionPlace {
  private var bin: TrashFolder { TrashFolder(library: root) }

  package func prepareToDelete(_ ids: [ImageID]) {
    let table = current
    bin.readOriginals(ofArchives: ids.compactMap { table.entry($0)?.path })
  }

  /// Durable. Refuses also images whose tiles are loose files. Where none could be moved it throws.
  package func delete(
    _ ids: [ImageID], at time: Int
  ) throws(StorageError) -> (deletion: Deletion?, refused: [ImageID]) {
    try alone { () throws(StorageError) in
      let table = current
      let entries = ids.map { ($0, table.entry($0)) }
      let found = entries.compactMap(\.1).filter { !$0.path.hasSuffix(".dzi") }
      let refused = entries.filter { _, entry in entry.map { $0.path.hasSuffix(".dzi") } ?? true }.map(\.0)
      guard !found.isEmpty else { return (nil, refused) }
      let (deletion, failures) = bin.take(found.map(\.path), at: time)
      try renew(found.map { ($0.id, $0.path) })
      if deletion == nil, let error = failures.errors.first { throw error }
      return (deletion, refused + failures.ids.sorted())
    }
  }

  package func deletions(since oldest: Int) -> [Deletion] { bin.deletions(since: oldest) }

  package func restore(_ name: String, since oldest: Int) throws(StorageError) -> Deletion.Restoration? {
    try alone { () throws(StorageError) in
      guard let (restored, conflicts) = try bin.restore(name, since: oldest) else { return nil }
      // With a page, the description of its book.
      hasNewsOfBooks.withLock { $0 = true }
      // Also those whose words came back and whose place another has.
      try renew((restored + conflicts).map { ($0.id, $0.path) })
      return Deletion.Restoration(restored: restored.map(\.id), conflicts: conflicts.map(\.id))
    }
  }

  /// Also what a killed program was removing.
  package func purgeDeleted(until oldest: Int) { bin.purge(until: oldest) }

  private func alone<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    let result: Swift.Result<Result, StorageError> = deleting.withLock { _ in
      do throws(StorageError) { return .success(try body()) } catch { return .failure(error) }
    }
    return try result.get()
  }
}

import Synchronization
import TileStorage
package import ZigguratFiles

// The table contains deleted and restored images at once.
extension FolderRepository: TrashStore {
  private var bin: TrashFolder { TrashFolder(library: root) }

  package func prepareToDelete(_ ids: [ImageID]) {
    let table = current
    bin.readOriginals(ofArchives: ids.compactMap { table.entry($0)?.path })
  }

  /// Takes in the changes of other processes.
  package func restricted(to ids: [ImageID]) throws(StorageError) -> (any TrashStore)? {
    let table = current
    let known = ids.compactMap { id in table.entry(id).map { (id, $0.path) } }
    // The error concerns the catalog, or an unmounted disk, whose images `delete` refuses.
    try? renew(known, isWritten: false)
    return nil
  }

  /// Deletes images durably. It refuses images with loose tiles, and throws if no archive could be moved.
  package func delete(
    _ ids: [ImageID], at time: Int
  ) throws(StorageError) -> (deletion: Deletion?, refused: [ImageID]) {
    try alone { () throws(StorageError) in
      let table = current
      let entries = ids.map { ($0, table.entry($0)) }
      let found = entries.compactMap(\.1).filter { !$0.path.hasSuffix(".dzi") }
      let refused = entries.filter { _, entry in entry.map { $0.path.hasSuffix(".dzi") } ?? true }.map(\.0)
      guard !found.isEmpty else { return (nil, refused) }
      if found.contains(where: { table.isUnmounted($0.path) }) { throw .libraryIsAway }
      let (deletion, failures) = bin.take(found.map(\.path), at: time)
      // The files are moved, even if the catalog follows later.
      try? renew(found.map { ($0.id, $0.path) })
      if deletion == nil, let error = failures.errors.first { throw error }
      return (deletion, refused + failures.ids.sorted())
    }
  }

  package func deletions(since oldest: Int) -> [Deletion] { bin.deletions(since: oldest) }

  package func restore(_ name: String, since oldest: Int) throws(StorageError) -> Deletion.Restoration? {
    try alone { () throws(StorageError) in
      try requireMounted(name, since: oldest)
      guard let (restored, conflicts) = try bin.restore(name, since: oldest) else { return nil }
      // The description of a book is restored with its page.
      hasNewsOfBooks.withLock { $0 = true }
      // The files are back, even if the catalog follows later. Images in conflict were left alone.
      try? renew(restored.map { ($0.id, $0.path) })
      return Deletion.Restoration(restored: restored.map(\.id), conflicts: conflicts.map(\.id))
    }
  }

  /// Throws if images of a deletion belong on unmounted disks. They would be restored into the folders below the mount
  /// points.
  private func requireMounted(_ name: String, since oldest: Int) throws(StorageError) {
    let table = current
    guard !table.unmounted.isEmpty else { return }
    let images = bin.deletions(since: oldest).first { $0.name == name }?.images ?? []
    if images.contains(where: { table.isUnmounted($0.archive(in: root)) }) { throw .libraryIsAway }
  }

  /// Removes old deletions, including those whose removal was interrupted.
  package func purgeDeleted(until oldest: Int) { bin.purge(until: oldest) }

  private func alone<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    let result: Swift.Result<Result, StorageError> = deleting.withLock { _ in
      do throws(StorageError) { return .success(try body()) } catch { return .failure(error) }
    }
    return try result.get()
  }
}

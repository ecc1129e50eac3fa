import ZigguratCatalog
import ZigguratFiles

/// The trash of a library whose images are rows of a shared catalog.
struct SharedTrash: TrashStore {
  let library: SharedCatalogRepository
  /// The expected state of the one image that is deleted; nil for any state.
  var known: CatalogRowCache.Known?

  /// Returns the time of the database. The next writer may have another clock, and remove images that could still be
  /// restored.
  func now() throws(StorageError) -> Int { try library.catalog.now() }

  func restricted(to ids: [ImageID]) throws(StorageError) -> (any TrashStore)? {
    guard ids.count == 1, let known = try library.rows.fresh(ids[0]) else { return nil }
    return SharedTrash(library: library, known: known)
  }

  func delete(
    _ ids: [ImageID], at time: Int
  ) throws(StorageError) -> (deletion: Deletion?, refused: [ImageID]) {
    let name = String(time, radix: 16) + "-" + String(UInt64.random(in: (1 << 60)...(.max)), radix: 16)
    let version = known.map { (generation: $0.row.generation, sidecar: $0.sidecar?.version ?? 0) }
    let taken = try library.catalog.delete(ids, as: name, at: time, onlyOf: version)
    library.rows.forget(Set(taken))
    let there = Set(taken)
    return (
      taken.isEmpty ? nil : Deletion(name: name, images: taken, time: time),
      ids.filter { !there.contains($0) }
    )
  }

  func deletions(since oldest: Int) throws(StorageError) -> [Deletion] {
    try library.catalog.deletions(since: oldest)
  }

  func restore(_ name: String, since oldest: Int) throws(StorageError) -> Deletion.Restoration? {
    guard let deletion = try deletions(since: oldest).first(where: { $0.name == name }) else { return nil }
    let archives = try library.catalog.archives(ofDeletion: name)
    let entries = try library.rows.listed(archives, deletedBy: name)
    let restored = try library.catalog.restore(entries, from: name)
    library.rows.forget(Set(restored))
    let back = Set(restored)
    return Deletion.Restoration(restored: restored, conflicts: deletion.images.filter { !back.contains($0) })
  }

  func purgeDeleted(until oldest: Int) throws(StorageError) {
    guard library.catalog.isWriter else { return }
    try library.catalog.purgeDeleted(until: oldest)
  }
}

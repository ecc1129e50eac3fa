import Glibc
import TileStorage
package import ZigguratFiles

/// Deletions in a space. A deletion moves an entry within the index, so that the space is always before or after it.
extension PrivateSpace: TrashStore {
  package func delete(
    _ ids: [ImageID], at time: Int
  ) throws(StorageError) -> (deletion: Deletion?, refused: [ImageID]) {
    let gone = Set(ids)
    for id in ids { try keepOriginal(ofDeleted: id, gone) }
    var result: (deletion: Deletion?, refused: [ImageID]) = (nil, [])
    try change { (index) throws(StorageError) in
      var gone: [String: SpaceIndex.Entry] = [:]
      for id in ids {
        if var entry = index.entries.removeValue(forKey: id.text) {
          // The next build must not remove a restored image again.
          entry.origin = nil
          gone[id.text] = entry
        } else {
          result.refused.append(id)
        }
      }
      guard !gone.isEmpty else { return nil }
      let name = SpaceKeys.hex(Sodium.random(12))
      index.deletions = (index.deletions ?? [:]).merging(
        [name: SpaceIndex.Deletion(time: time, entries: gone)]
      ) { $1 }
      result.deletion = Deletion(name: name, images: SpaceIndex.ids(gone), time: time)
      return []
    }
    return result
  }

  /// Keeps the original of a deleted page for the remaining pages of its file, by a copy to another page of the space.
  /// It throws if only the library has other pages, because the original would show the private page there.
  private func keepOriginal(ofDeleted id: ImageID, _ gone: Set<ImageID>) throws(StorageError) {
    do throws(StorageError) {
      guard try PictureMove.handOnOriginal(of: id, in: self, besides: gone) == .noOtherPage,
        let record = buildRecord(ofID: id), let book = id.folder
      else { return }
      let library = FolderStore(library: parentFolder(folder.path))
      let isLast = !library.pages(below: book).contains { page in
        page.folder == book && library.buildRecord(ofID: page)?.sourceDigest == record.sourceDigest
      }
      guard isLast else {
        throw StorageError(
          "delete \(id)",
          "the library has other pages of its file, whose original would be lost: move them into the space first, "
            + "or this page out of it", code: EEXIST)
      }
    } catch  where !error.isTemporary && error.code != EEXIST {
      // A damaged picture can still be deleted.
    }
  }

  package func deletions(since oldest: Int) throws(StorageError) -> [Deletion] {
    try (index().deletions ?? [:]).filter { Deletion.isKept($0.value.time, since: oldest) }.map {
      name, deletion in
      Deletion(name: name, images: SpaceIndex.ids(deletion.entries), time: deletion.time)
    }.lastFirst()
  }

  package func restore(_ name: String, since oldest: Int) throws(StorageError) -> Deletion.Restoration? {
    var result: Deletion.Restoration?
    try change { (index) throws(StorageError) in
      guard var deletion = index.deletions?[name], Deletion.isKept(deletion.time, since: oldest) else {
        return nil
      }
      let back = deletion.entries.filter { index.entries[$0.key] == nil }
      for (id, entry) in back {
        index.entries[id] = entry
        deletion.entries[id] = nil
      }
      index.deletions?[name] = deletion.entries.isEmpty ? nil : deletion
      result = Deletion.Restoration(
        restored: SpaceIndex.ids(back), conflicts: SpaceIndex.ids(deletion.entries))
      return back.isEmpty ? nil : []
    }
    return result
  }

  package func purgeDeleted(until oldest: Int) throws(StorageError) {
    guard try (index().deletions ?? [:]).values.contains(where: { !Deletion.isKept($0.time, since: oldest) })
    else { return }
    try change { (index) throws(StorageError) in
      let over = (index.deletions ?? [:]).filter { !Deletion.isKept($0.value.time, since: oldest) }
      guard !over.isEmpty else { return nil }
      for name in over.keys { index.deletions?[name] = nil }
      return over.values.flatMap { $0.entries.values.flatMap(\.files) }
    }
  }
}

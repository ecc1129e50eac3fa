package import Files
import TileStorage

/// Images that were deleted from a space together and can come back together.
package struct SpaceDeletion: Hashable, Sendable {
  package let name: String
  /// Sorted.
  package let images: [String]
  /// Seconds since 1970.
  package let time: Int
}

/// Deletion moves an image's line within the index, so that a space is before it or after it at any moment.
extension PrivateSpace {
  /// - Parameter time: seconds since 1970.
  /// - Returns: nil where the space has none of the images; and those that it has not.
  package func delete(
    _ ids: [String], at time: Int
  ) throws(StorageError) -> (deletion: SpaceDeletion?, refused: [String]) {
    var result: (deletion: SpaceDeletion?, refused: [String]) = (nil, [])
    try change { (index) throws(StorageError) in
      var gone: [String: SpaceIndex.Entry] = [:]
      for id in ids {
        if var entry = index.entries.removeValue(forKey: id) {
          // What somebody brings back is not for the next build to remove again.
          entry.origin = nil
          gone[id] = entry
        } else {
          result.refused.append(id)
        }
      }
      guard !gone.isEmpty else { return nil }
      let name = SpaceKeys.hex(Sodium.random(12))
      index.deletions = (index.deletions ?? [:]).merging(
        [name: SpaceIndex.Deletion(time: time, entries: gone)]
      ) { $1 }
      result.deletion = SpaceDeletion(name: name, images: gone.keys.sorted(), time: time)
      return []
    }
    return result
  }

  /// What can come back, the last deleted first.
  /// - Parameter oldest: seconds since 1970.
  package func deletions(since oldest: Int) throws(StorageError) -> [SpaceDeletion] {
    try (index().deletions ?? [:]).filter { $0.value.time > oldest }.map { name, deletion in
      SpaceDeletion(name: name, images: deletion.entries.keys.sorted(), time: deletion.time)
    }.sorted { ($0.time, $0.name) > ($1.time, $1.name) }
  }

  /// Brings a deletion's images back.
  /// - Returns: those that are back, and those whose place another image has taken; nil where there is no such
  ///   deletion any more.
  package func restore(
    _ name: String, since oldest: Int
  ) throws(StorageError) -> (restored: [String], taken: [String])? {
    var result: (restored: [String], taken: [String])?
    try change { (index) throws(StorageError) in
      guard var deletion = index.deletions?[name], deletion.time > oldest else { return nil }
      let back = deletion.entries.filter { index.entries[$0.key] == nil }
      for (id, entry) in back {
        index.entries[id] = entry
        deletion.entries[id] = nil
      }
      index.deletions?[name] = deletion.entries.isEmpty ? nil : deletion
      result = (back.keys.sorted(), deletion.entries.keys.sorted())
      return back.isEmpty ? nil : []
    }
    return result
  }

  /// Removes for good what was deleted long enough ago.
  package func purgeDeleted(until oldest: Int) throws(StorageError) {
    guard try (index().deletions ?? [:]).values.contains(where: { $0.time <= oldest }) else { return }
    try change { (index) throws(StorageError) in
      let over = (index.deletions ?? [:]).filter { $0.value.time <= oldest }
      guard !over.isEmpty else { return nil }
      for name in over.keys { index.deletions?[name] = nil }
      return over.values.flatMap { $0.entries.values.flatMap(\.files) }
    }
  }
}

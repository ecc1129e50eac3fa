import Glibc

/// Images that were deleted together and can come back together, from a library or from a private space.
package struct Deletion: Hashable, Sendable {
  package let name: String
  /// Their ids, sorted.
  package let images: [ImageID]
  /// Seconds since 1970.
  package let time: Int

  package init(name: String, images: some Sequence<ImageID>, time: Int) {
    self.name = name
    self.images = images.sorted()
    self.time = time
  }

  /// Now, seconds since 1970.
  package static var now: Int { Int(Glibc.time(nil)) }

  /// Whether what was deleted then can come back still.
  /// - Parameters:
  ///   - time: seconds since 1970.
  ///   - oldest: what was deleted until then is to be removed for good.
  package static func isKept(_ time: Int, since oldest: Int) -> Bool { time > oldest }

  /// What became of the images when they were to come back.
  package struct Restoration: Hashable, Sendable {
    /// Those that are back, sorted.
    package let restored: [ImageID]
    /// Those whose place another image has taken, sorted; they stay deleted.
    package let conflicts: [ImageID]

    package init(restored: some Sequence<ImageID>, conflicts: some Sequence<ImageID>) {
      self.restored = restored.sorted()
      self.conflicts = conflicts.sorted()
    }
  }
}

extension Sequence<Deletion> {
  /// As they are told: the last deleted first.
  package func lastFirst() -> [Deletion] { sorted { ($0.time, $0.name) > ($1.time, $1.name) } }
}

/// Where images are deleted and come back from. Times are seconds since 1970.
///
/// What a deletion is made of is each place's own. A library's is a folder that `TrashFolder` moves files to, with no
/// note but its name, which tells the time; a private space's is a part of its sealed index, in which one write moves
/// them all, under a name that tells whoever reads a log nothing.
package protocol DeletionPlace: Sendable {
  /// Now by the clock that times of deletions are told by.
  func now() throws(StorageError) -> Int

  /// Does what `delete` would have to wait for, as reading files to their ends.
  func prepareToDelete(_ ids: [ImageID])

  /// Returns a place that deletes these images only if they do not change meanwhile; nil if this one needs no such care.
  func pinned(to ids: [ImageID]) throws(StorageError) -> (any DeletionPlace)?

  /// - Returns: the deletion, nil where nothing was deleted; and the ids that are no image or could not be deleted.
  func delete(
    _ ids: [ImageID], at time: Int
  ) throws(StorageError) -> (deletion: Deletion?, refused: [ImageID])

  /// What can come back, the last deleted first.
  func deletions(since oldest: Int) throws(StorageError) -> [Deletion]

  /// Brings a deletion's images back; nil where there is no such deletion any more.
  func restore(_ name: String, since oldest: Int) throws(StorageError) -> Deletion.Restoration?

  /// Removes for good what was deleted until then.
  func purgeDeleted(until oldest: Int) throws(StorageError)
}

extension DeletionPlace {
  package func now() throws(StorageError) -> Int { Deletion.now }

  package func prepareToDelete(_ ids: [ImageID]) {}

  package func pinned(to ids: [ImageID]) throws(StorageError) -> (any DeletionPlace)? { nil }
}

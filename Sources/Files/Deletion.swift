import Glibc

/// A set of images that were deleted together and can be restored together, in a library or in a private space.
package struct Deletion: Hashable, Sendable {
  package let name: String
  /// The ids of the images, sorted.
  package let images: [ImageID]
  /// Seconds since 1970.
  package let time: Int

  package init(name: String, images: some Sequence<ImageID>, time: Int) {
    self.name = name
    self.images = images.sorted()
    self.time = time
  }

  /// The present time in seconds since 1970.
  package static var now: Int { Int(Glibc.time(nil)) }

  /// Whether images that were deleted at a time can still be restored.
  /// - Parameters:
  ///   - time: seconds since 1970.
  ///   - oldest: deletions up to this time are to be removed for good.
  package static func isKept(_ time: Int, since oldest: Int) -> Bool { time > oldest }

  /// The result of a restoration.
  package struct Restoration: Hashable, Sendable {
    /// The restored images, sorted.
    package let restored: [ImageID]
    /// The images whose place another image has taken, sorted; they stay deleted.
    package let conflicts: [ImageID]

    package init(restored: some Sequence<ImageID>, conflicts: some Sequence<ImageID>) {
      self.restored = restored.sorted()
      self.conflicts = conflicts.sorted()
    }
  }
}

extension Sequence<Deletion> {
  /// Returns the deletions in the order of lists: the latest first.
  package func lastFirst() -> [Deletion] { sorted { ($0.time, $0.name) > ($1.time, $1.name) } }
}

/// A place where images are deleted and restored. Times are seconds since 1970.
///
/// Each place stores deletions in its own way. A library's deletion is a folder to which `TrashFolder` moves files,
/// without a record except its name, which contains the time. A private space's deletion is a part of its sealed index.
/// One write moves all of its images, under a name that reveals nothing to readers of a log.
package protocol TrashStore: Sendable {
  /// Returns the present time by the clock of deletions.
  func now() throws(StorageError) -> Int

  /// Does slow work in advance for which `delete` would have to wait, such as reading files to their ends.
  func prepareToDelete(_ ids: [ImageID])

  /// Returns a place that deletes these images only if they do not change meanwhile; nil if this one does not need
  /// that.
  func restricted(to ids: [ImageID]) throws(StorageError) -> (any TrashStore)?

  /// - Returns: the deletion, nil if nothing was deleted; and the ids that have no image or could not be deleted.
  func delete(
    _ ids: [ImageID], at time: Int
  ) throws(StorageError) -> (deletion: Deletion?, refused: [ImageID])

  /// Returns the deletions that can be restored, the latest first.
  func deletions(since oldest: Int) throws(StorageError) -> [Deletion]

  /// Restores a deletion's images; nil if the deletion does not exist any more.
  func restore(_ name: String, since oldest: Int) throws(StorageError) -> Deletion.Restoration?

  /// Removes deletions up to this time for good.
  func purgeDeleted(until oldest: Int) throws(StorageError)
}

extension TrashStore {
  package func now() throws(StorageError) -> Int { Deletion.now }

  package func prepareToDelete(_ ids: [ImageID]) {}

  package func restricted(to ids: [ImageID]) throws(StorageError) -> (any TrashStore)? { nil }
}

import TileStorage
package import ZigguratFiles

/// The deleted images of a library, or of an unlocked space, for as long as they are kept.
package struct Trash: Sendable {
  /// A deletion in responses of the server.
  package struct Listed: Encodable {
    package let id: String
    package let images: [ImageReference]
    /// Seconds since 1970.
    package let deletedAt: Int
    package let expires: Int
  }

  private var place: any TrashStore
  /// The space; nil for the library's trash.
  private let space: SpaceLibrary?
  /// The retention time in seconds.
  private let keeps: Int

  package init(_ library: any ImageRepository, keeps: Int) {
    space = nil
    self.keeps = keeps
    place = library.trash
  }

  package init(_ space: SpaceLibrary, keeps: Int) {
    place = space.space
    self.space = space
    self.keeps = keeps
  }

  /// Returns the trash for one deletion, which fails if the images change meanwhile; nil if no such check is needed.
  /// Takes in the changes of other processes.
  func restricted(to ids: [ImageID]) throws(StorageError) -> Trash? {
    space?.refresh()
    guard let restricted = try place.restricted(to: ids) else { return nil }
    var trash = self
    trash.place = restricted
    return trash
  }

  package var repository: ImageReference.Repository { space == nil ? .library : .space }

  /// The first character of the ids of deletions from a space.
  private static let mark: Character = "~"

  /// Whether a deletion id belongs to a space.
  package static func isOfSpace(_ id: String) -> Bool { id.first == mark }

  /// Does the slow part of `delete` in advance, outside its lock.
  func prepareToDelete(_ ids: [ImageID]) { place.prepareToDelete(ids) }

  /// Deletes images of the repository.
  /// - Returns: the deletion, nil if nothing was deleted, and the ids that do not exist or could not be deleted.
  package func delete(
    _ ids: [ImageID]
  ) throws(StorageError) -> (deletion: Listed?, refused: [ImageID]) {
    let (deletion, refused) = try place.delete(ids, at: place.now())
    space?.refresh()
    return (deletion.map(listed), refused)
  }

  /// Returns the deletions that can be restored, the latest first.
  package func deletions() throws(StorageError) -> [Listed] {
    try place.deletions(since: oldest).map(listed)
  }

  /// Restores the images of a deletion; nil if the deletion does not exist any more.
  /// - Parameter id: the id of a `Listed` deletion.
  /// - Returns: the ids within the repository.
  package func restore(_ id: String) throws(StorageError) -> Deletion.Restoration? {
    guard Self.isOfSpace(id) == (space != nil),
      let result = try place.restore(space == nil ? id : String(id.dropFirst()), since: oldest)
    else { return nil }
    space?.refresh()
    return result
  }

  /// Removes deletions permanently after the retention time. An error is ignored, because the next call tries again.
  package func purge() { try? place.purgeDeleted(until: oldest) }

  private var oldest: Int {
    get throws(StorageError) { try place.now() - keeps }
  }

  private func listed(_ deletion: Deletion) -> Listed {
    Listed(
      id: (space == nil ? "" : String(Self.mark)) + deletion.name,
      images: deletion.images.map { ImageReference($0, in: repository) },
      deletedAt: deletion.time, expires: deletion.time + keeps)
  }
}

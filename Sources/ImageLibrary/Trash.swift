package import Files
import TileStorage

/// What visitors delete from a library or from the space that they have open, for as long as it is kept.
package struct Trash: Sendable {
  /// One deletion as it is told.
  package struct Told: Encodable {
    package let id: String
    package let images: [ImageID]
    /// Seconds since 1970.
    package let deleted: Int
    package let expires: Int
  }

  private var place: any DeletionPlace
  /// Nil of a library.
  private let space: SpaceLibrary?
  /// Seconds.
  private let keeps: Int

  package init(_ library: Library, keeps: Int) {
    (space, self.keeps) = (nil, keeps)
    place = library.rows.map { RowTrash(library: library, rows: $0) } ?? LibraryTrash(library)
  }

  package init(_ space: SpaceLibrary, keeps: Int) {
    (place, self.space, self.keeps) = (space.space, space, keeps)
  }

  /// The same, which deletes an image of a catalog that servers share only as it is known.
  func only(_ known: RowCache.Known) -> Trash {
    var trash = self
    if var rows = place as? RowTrash {
      rows.known = known
      trash.place = rows
    }
    return trash
  }

  /// What the ids of deletions from a space begin with.
  private static let mark: Character = "~"

  /// Whether a deletion of that id is one from a space.
  package static func isOfSpace(_ id: String) -> Bool { id.first == mark }

  /// - Parameter ids: within the space.
  /// - Returns: the deletion, nil where nothing was deleted; and the ids that are no image or could not be deleted.
  package func delete(
    _ ids: [ImageID]
  ) throws(StorageError) -> (deletion: Told?, refused: [ImageID]) {
    let (deletion, refused) = try place.delete(ids, at: place.now())
    space?.refresh()
    return (deletion.map(told), refused.map(told))
  }

  /// What can come back, the last deleted first.
  package func deletions() throws(StorageError) -> [Told] {
    try place.deletions(since: oldest).map(told)
  }

  /// Brings a deletion's images back; nil where there is no such deletion any more.
  /// - Parameter id: as it is told.
  package func restore(_ id: String) throws(StorageError) -> Deletion.Restoration? {
    guard Self.isOfSpace(id) == (space != nil),
      let result = try place.restore(space == nil ? id : String(id.dropFirst()), since: oldest)
    else { return nil }
    space?.refresh()
    return Deletion.Restoration(
      restored: result.restored.map(told), taken: result.taken.map(told))
  }

  /// Removes for good what was kept for long enough. What fails now is tried again the next time.
  package func purge() { try? place.purgeDeleted(until: oldest) }

  private var oldest: Int {
    get throws(StorageError) { try place.now() - keeps }
  }

  private func told(_ id: ImageID) -> ImageID { space == nil ? id : id.marked }

  private func told(_ deletion: Deletion) -> Told {
    Told(
      id: (space == nil ? "" : String(Self.mark)) + deletion.name, images: deletion.images.map(told),
      deleted: deletion.time, expires: deletion.time + keeps)
  }
}

import Glibc
import Synchronization
import TileStorage
package import ZigguratFiles
package import ZigguratMetadata

/// Edits and deletes images, one at a time: the later of two who change one image at once learns of it.
package final class LibraryEditor: Sendable {
  package enum Outcome {
    case done
    case notFound
    /// Somebody else has changed the image in the meantime.
    case changedMeanwhile
    /// A sidecar of somebody's that cannot be read.
    case unreadableSidecar
    /// The sidecar cannot be read or written now, for no fault of its own.
    case unavailable
  }

  private let library: any ImageRepository
  /// Changes that are made one at a time.
  private final class Turn: Sendable {
    private let lock = Mutex<Void>(())

    func run<Result>(_ change: () throws(StorageError) -> Result) throws(StorageError) -> Result {
      let result: Swift.Result<Result, StorageError> = lock.withLock { _ in
        do throws(StorageError) { return .success(try change()) } catch { return .failure(error) }
      }
      return try result.get()
    }
  }

  private let turn = Turn()
  private let turnInSpaces = Turn()

  package init(_ library: any ImageRepository) { self.library = library }

  /// Writes the edit beside the archive, durably, and takes it into the catalog.
  /// - Parameter isCurrent: whether the image is as the editor saw it; asked while nobody else may write.
  package func edit(
    _ id: ImageID, _ edit: MetadataEdit, if isCurrent: () throws(MetadataUnavailable) -> Bool
  ) throws(StorageError) -> Outcome {
    try turn.run { () throws(StorageError) in try library.edit(id, edit, if: isCurrent) }
  }

  /// Edits an image of a private space, as `edit` does in the library.
  /// - Parameter id: within the space.
  package func edit(
    _ id: ImageID, of space: SpaceLibrary, _ edit: MetadataEdit,
    if isCurrent: () throws(MetadataUnavailable) -> Bool
  ) throws(StorageError) -> Outcome {
    try turnInSpaces.run { () throws(StorageError) in try space.edit(id, edit, if: isCurrent) }
  }

  /// Deletes images, also of a private space; nobody edits one meanwhile here.
  /// - Parameter isCurrent: whether they are as whoever deletes them saw them.
  /// - Returns: nil where they are not.
  package func delete(
    _ ids: [ImageID], from trash: Trash, if isCurrent: () throws(MetadataUnavailable) -> Bool
  ) throws(StorageError) -> (deletion: Trash.Listed?, refused: [ImageID])? {
    trash.prepareToDelete(ids)
    return try (trash.repository == .space ? turnInSpaces : turn).run { () throws(StorageError) in
      // More than once where what was asked about is another one by then.
      for _ in 0..<4 {
        // What another server has written counts.
        let restricted = try trash.restricted(to: ids)
        do throws(MetadataUnavailable) {
          guard try isCurrent() else { return nil }
        } catch {
          throw StorageError("delete an image", "its metadata cannot be read at present", kind: .unreachable)
        }
        let result = try (restricted ?? trash).delete(ids)
        if restricted == nil || result.deletion != nil { return result }
      }
      return nil
    }
  }

  /// A sidecar with the edit in it, of an image of the library as of a space.
  /// - Returns: the bytes where that is done, and nil where something is in the way.
  static func edited(
    _ old: [UInt8], _ edit: MetadataEdit, isPrivate: Bool,
    if isCurrent: () throws(MetadataUnavailable) -> Bool
  ) -> (outcome: Outcome, new: [UInt8]?) {
    do throws(MetadataUnavailable) {
      guard try isCurrent() else { return (.changedMeanwhile, nil) }
      // What cannot be read again is not written.
      guard let new = try Sidecar.edited(old, edit, isPrivate: isPrivate),
        try Sidecar(new, isPrivate: isPrivate) != nil
      else { return (.unreadableSidecar, nil) }
      return (.done, new)
    } catch { return (.unavailable, nil) }
  }
}

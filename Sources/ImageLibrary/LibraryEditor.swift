import Glibc
import Synchronization
import TileStorage
package import ZigguratFiles
package import ZigguratMetadata

/// An editor of images that makes one change at a time. Of two clients that change one image at once, the later one is
/// notified.
package final class LibraryEditor: Sendable {
  package enum Outcome {
    case done
    case notFound
    /// Somebody else has changed the image in the meantime.
    case changedMeanwhile
    /// The sidecar is another program's and cannot be read.
    case unreadableSidecar
    /// The sidecar cannot be read or written at present, although it may be valid.
    case unavailable
  }

  private let library: any ImageRepository
  /// A lock for changes that are made one at a time.
  private final class ChangeLock: Sendable {
    private let lock = Mutex<Void>(())

    func run<Result>(_ change: () throws(StorageError) -> Result) throws(StorageError) -> Result {
      let result: Swift.Result<Result, StorageError> = lock.withLock { _ in
        do throws(StorageError) { return .success(try change()) } catch { return .failure(error) }
      }
      return try result.get()
    }
  }

  private let libraryLock = ChangeLock()
  private let spacesLock = ChangeLock()

  package init(_ library: any ImageRepository) { self.library = library }

  /// Writes the edit to a file beside the archive, durably, and updates the catalog.
  /// - Parameter isCurrent: whether the image is as the editor saw it. Called while no other change is possible.
  package func edit(
    _ id: ImageID, _ edit: MetadataEdit, if isCurrent: () throws(MetadataUnavailable) -> Bool
  ) throws(StorageError) -> Outcome {
    try libraryLock.run { () throws(StorageError) in try library.edit(id, edit, if: isCurrent) }
  }

  /// Edits an image of a private space. Sessions of one space have libraries of their own, so all spaces share a lock.
  /// - Parameter id: the id within the space.
  package func edit(
    _ id: ImageID, of space: SpaceLibrary, _ edit: MetadataEdit,
    if isCurrent: () throws(MetadataUnavailable) -> Bool
  ) throws(StorageError) -> Outcome {
    try spacesLock.run { () throws(StorageError) in try space.edit(id, edit, if: isCurrent) }
  }

  /// Deletes images of the library or of a private space, while this process makes no edits.
  /// - Parameter isCurrent: whether the images are as the client saw them.
  /// - Returns: nil if they are not.
  package func delete(
    _ ids: [ImageID], from trash: Trash, if isCurrent: () throws(MetadataUnavailable) -> Bool
  ) throws(StorageError) -> (deletion: Trash.Listed?, refused: [ImageID])? {
    trash.prepareToDelete(ids)
    return try (trash.repository == .space ? spacesLock : libraryLock).run { () throws(StorageError) in
      // Repeated if an image has changed after the call of `isCurrent`.
      for _ in 0..<4 {
        // Includes the changes of other servers.
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

  /// Returns a sidecar with the edit, for an image of the library or of a space.
  /// - Returns: the new bytes; nil if the outcome is not `done`.
  static func edited(
    _ old: [UInt8], _ edit: MetadataEdit, isPrivate: Bool,
    if isCurrent: () throws(MetadataUnavailable) -> Bool
  ) -> (outcome: Outcome, new: [UInt8]?) {
    do throws(MetadataUnavailable) {
      guard try isCurrent() else { return (.changedMeanwhile, nil) }
      // A sidecar that could not be read again is not written.
      guard let new = try Sidecar.edited(old, edit, isPrivate: isPrivate),
        try Sidecar(new, isPrivate: isPrivate) != nil
      else { return (.unreadableSidecar, nil) }
      return (.done, new)
    } catch { return (.unavailable, nil) }
  }
}

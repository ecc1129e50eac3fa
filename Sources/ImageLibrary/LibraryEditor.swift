import Glibc
import Synchronization
import TileStorage
package import ZigguratFiles
package import ZigguratMetadata

/// Writes sidecars, so that of two who edit one image at once the later is told.
package final class LibraryEditor: Sendable {
  package enum Outcome {
    case done
    case notThere
    /// Somebody else has changed the image in the meantime.
    case changedMeanwhile
    /// A sidecar of somebody's that cannot be read.
    case unreadableSidecar
    /// The sidecar cannot be read or written now, for no fault of its own.
    case unavailable
  }

  private let library: any ImageRepository
  private let turn = Mutex<Void>(())

  package init(_ library: any ImageRepository) { self.library = library }

  /// Writes the edit beside the archive, durably, and takes it into the catalog.
  /// - Parameter isCurrent: whether the image is as the editor saw it; asked while nobody else may write.
  package func edit(
    _ id: ImageID, _ edit: MetadataEdit, if isCurrent: () throws(WordsUnavailable) -> Bool
  ) throws(StorageError) -> Outcome {
    let result: Result<Outcome, StorageError> = turn.withLock { _ in
      do throws(StorageError) { return .success(try library.edit(id, edit, if: isCurrent)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Deletes images; nobody edits one meanwhile here.
  /// - Parameter isCurrent: whether they are as whoever deletes them saw them.
  /// - Returns: nil where they are not.
  package func delete(
    _ ids: [ImageID], from trash: Trash, if isCurrent: () throws(WordsUnavailable) -> Bool
  ) throws(StorageError) -> (deletion: Trash.Listed?, refused: [ImageID])? {
    trash.prepareToDelete(ids)
    let result: Result<(deletion: Trash.Listed?, refused: [ImageID])?, StorageError> = turn.withLock { _ in
      do throws(StorageError) {
        // More than once where what was asked about is another one by then.
        for _ in 0..<4 {
          // What another server has written counts.
          let pinned = try trash.pinned(to: ids)
          do throws(WordsUnavailable) {
            guard try isCurrent() else { return .success(nil) }
          } catch {
            throw StorageError(
              "delete an image", "its metadata cannot be read at present", kind: .unreachable)
          }
          let result = try (pinned ?? trash).delete(ids)
          if pinned == nil || result.deletion != nil { return .success(result) }
        }
        return .success(nil)
      } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// A sidecar with the edit in it, of an image of the library as of a space.
  /// - Returns: the bytes where that is done, and nil where something is in the way.
  static func edited(
    _ old: [UInt8], _ edit: MetadataEdit, isPrivate: Bool, if isCurrent: () throws(WordsUnavailable) -> Bool
  ) -> (outcome: Outcome, new: [UInt8]?) {
    do throws(WordsUnavailable) {
      guard try isCurrent() else { return (.changedMeanwhile, nil) }
      // What cannot be read again is not written.
      guard let new = try Sidecar.edited(old, edit, isPrivate: isPrivate),
        try Sidecar(new, isPrivate: isPrivate) != nil
      else { return (.unreadableSidecar, nil) }
      return (.done, new)
    } catch { return (.unavailable, nil) }
  }
}

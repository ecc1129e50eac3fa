package import Files
import Foundation
package import Metadata
import TileStorage

/// Changes of a space by who has it open, as `LibraryEditor` and `Trash` make them of the library.
extension SpaceLibrary {
  /// - Parameters:
  ///   - id: within the space.
  ///   - isCurrent: whether the image is as the editor saw it; asked while nobody else may write.
  package func edit(
    _ id: String, _ edit: MetadataEdit, if isCurrent: () throws(WordsUnavailable) -> Bool
  ) throws(StorageError) -> LibraryEditor.Outcome {
    var outcome = LibraryEditor.Outcome.done
    let isThere = try space.changeSidecar(ofID: id) { old in
      refresh()
      do throws(WordsUnavailable) {
        guard try isCurrent() else {
          outcome = .changedMeanwhile
          return nil
        }
        guard let new = try Sidecar.edited(old, edit, isPrivate: true),
          try Sidecar(new, isPrivate: true) != nil
        else {
          outcome = .unreadableSidecar
          return nil
        }
        return new
      } catch {
        outcome = .unavailable
        return nil
      }
    }
    refresh()
    return isThere ? outcome : .notThere
  }

  /// - Parameters:
  ///   - ids: within the space.
  ///   - keeps: seconds that they can come back.
  package func delete(
    _ ids: [String], keeps: Int
  ) throws(StorageError) -> (deletion: Trash.Deletion?, refused: [String]) {
    let (deletion, refused) = try space.delete(ids, at: Self.now)
    refresh()
    return (deletion.map { told($0, keeps) }, refused.map { Self.prefixed($0) })
  }

  package func deletions(keeps: Int) throws(StorageError) -> [Trash.Deletion] {
    try space.deletions(since: Self.now - keeps).map { told($0, keeps) }
  }

  /// - Parameter name: as a deletion's id is told.
  package func restore(
    _ name: String, keeps: Int
  ) throws(StorageError) -> (restored: [String], taken: [String])? {
    guard let result = try space.restore(String(name.dropFirst()), since: Self.now - keeps) else {
      return nil
    }
    refresh()
    return (result.restored.map { Self.prefixed($0) }, result.taken.map { Self.prefixed($0) })
  }

  /// What fails now is tried again the next time.
  package func purgeDeleted(keeps: Int) { try? space.purgeDeleted(until: Self.now - keeps) }

  /// What the ids of deletions from a space begin with.
  package static let deletionMark: Character = "~"

  private func told(_ deletion: DeletedImages, _ keeps: Int) -> Trash.Deletion {
    Trash.Deletion(
      id: "\(Self.deletionMark)\(deletion.name)", images: deletion.images.map { Self.prefixed($0) },
      deleted: deletion.time, expires: deletion.time + keeps)
  }

  private static func prefixed(_ id: String) -> String { "\(prefix)\(id)" }
  private static var now: Int { Int(Date().timeIntervalSince1970) }
}

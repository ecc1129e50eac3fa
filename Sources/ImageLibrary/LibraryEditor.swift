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

  private let library: Library
  private let turn = Mutex<Void>(())

  package init(_ library: Library) { self.library = library }

  /// Writes the edit beside the archive, durably, and takes it into the catalog.
  /// - Parameter isCurrent: whether the image is as the editor saw it; asked while nobody else may write.
  package func edit(
    _ id: ImageID, _ edit: MetadataEdit, if isCurrent: () throws(WordsUnavailable) -> Bool
  ) throws(StorageError) -> Outcome {
    let result: Result<Outcome, StorageError> = turn.withLock { _ in
      do throws(StorageError) { return .success(try editAlone(id, edit, isCurrent)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private func editAlone(
    _ id: ImageID, _ edit: MetadataEdit, _ isCurrent: () throws(WordsUnavailable) -> Bool
  ) throws(StorageError) -> Outcome {
    if let rows = library.rows { return try editRow(id, rows, edit, isCurrent) }
    let table = library.current
    guard let path = table.entry(id)?.path else { return .notThere }
    if table.isUnmounted(path) { throw Library.outageError }
    // Another server of this library takes its turn by the same lock.
    let folder = try LockedFolder(parentFolder(path))
    try library.renew([(id, path)], isWritten: false)
    guard let entry = library.current.entry(id) else { return .notThere }
    var old: [UInt8] = []
    if entry.sidecar != nil {
      guard let bytes = entry.readSidecar() else { return .unreadableSidecar }
      old = bytes
    }
    let (outcome, new) = Self.edited(old, edit, isPrivate: false, if: isCurrent)
    guard let new else { return outcome }
    let place =
      if let sidecar = entry.sidecar { sidecar.path } else { try SidecarFile.place(ofArchive: path) }
    try SidecarFile.publish(new, to: place)
    try folder.synchronize()
    try library.renew([(id, path)])
    return outcome
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
          let known = ids.count == 1 ? try library.rows?.fresh(ids[0]) : nil
          do throws(WordsUnavailable) {
            guard try isCurrent() else { return .success(nil) }
          } catch {
            throw StorageError(
              "delete an image", "its metadata cannot be read at present", kind: .unreachable)
          }
          let result = try (known.map(trash.only) ?? trash).delete(ids)
          if known == nil || result.deletion != nil { return .success(result) }
        }
        return .success(nil)
      } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// The same of a row: what was read must still be so when it is written.
  private func editRow(
    _ id: ImageID, _ rows: KnownImages, _ edit: MetadataEdit,
    _ isCurrent: () throws(WordsUnavailable) -> Bool
  ) throws(StorageError) -> Outcome {
    for _ in 0..<4 {
      guard let known = try rows.fresh(id) else { return .notThere }
      let (outcome, new) = Self.edited(known.sidecar?.xmp ?? [], edit, isPrivate: false, if: isCurrent)
      guard let new else { return outcome }
      let listed = try rows.listed(known.row, new)
      let version = known.sidecar?.version ?? 0
      guard try library.catalog.write(sidecar: new, of: listed, after: version) else { continue }
      // It is written, whether that can be asked for now or not.
      _ = try? rows.fresh(id)
      return .done
    }
    return .changedMeanwhile
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

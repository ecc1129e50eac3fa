import TileStorage
package import ZigguratFiles
package import ZigguratMetadata

extension FolderRepository {
  /// Writes the sidecar beside the archive.
  package func edit(
    _ id: ImageID, _ edit: MetadataEdit, if isCurrent: () throws(MetadataUnavailable) -> Bool
  ) throws(StorageError) -> LibraryEditor.Outcome {
    let table = current
    guard let path = table.entry(id)?.path else { return .notFound }
    if table.isUnmounted(path) { throw .libraryIsAway }
    // Another server of this library uses the same lock.
    let folder = try DirectoryLock(parentFolder(path))
    try renew([(id, path)], isWritten: false)
    guard let entry = current.entry(id) else { return .notFound }
    var old: [UInt8] = []
    let enclosure = try RootDirectory(root)
    if let sidecar = entry.sidecar {
      do throws(StorageError) {
        old = try sidecar.contents(atMost: SidecarFile.maxLength + 1, within: enclosure)
      } catch {
        // It may be gone by now, or it cannot be opened at present.
        return error.kind == .unreadable ? .unreadableSidecar : .unavailable
      }
      guard old.count <= SidecarFile.maxLength else { return .unreadableSidecar }
    }
    let (outcome, new) = LibraryEditor.edited(old, edit, isPrivate: false, if: isCurrent)
    guard let new else { return outcome }
    if let sidecar = entry.sidecar {
      try sidecar.replace(by: new, within: enclosure)
    } else {
      try SidecarFile.publish(new, to: SidecarFile.place(ofArchive: path))
    }
    try folder.synchronize()
    // The change is written, even if the catalog follows later.
    try? renew([(id, path)])
    return outcome
  }
}

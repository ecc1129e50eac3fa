import TileStorage
package import ZigguratFiles
package import ZigguratMetadata

extension FolderRepository {
  /// Writes the sidecar beside the archive.
  package func edit(
    _ id: ImageID, _ edit: MetadataEdit, if isCurrent: () throws(WordsUnavailable) -> Bool
  ) throws(StorageError) -> LibraryEditor.Outcome {
    let table = current
    guard let path = table.entry(id)?.path else { return .notThere }
    if table.isUnmounted(path) { throw .libraryIsAway }
    // Another server of this library takes its turn by the same lock.
    let folder = try LockedFolder(parentFolder(path))
    try renew([(id, path)], isWritten: false)
    guard let entry = current.entry(id) else { return .notThere }
    var old: [UInt8] = []
    if entry.sidecar != nil {
      guard let bytes = entry.readSidecar() else { return .unreadableSidecar }
      old = bytes
    }
    let (outcome, new) = LibraryEditor.edited(old, edit, isPrivate: false, if: isCurrent)
    guard let new else { return outcome }
    let place =
      if let sidecar = entry.sidecar { sidecar.path } else { try SidecarFile.place(ofArchive: path) }
    try SidecarFile.publish(new, to: place)
    try folder.synchronize()
    try renew([(id, path)])
    return outcome
  }
}

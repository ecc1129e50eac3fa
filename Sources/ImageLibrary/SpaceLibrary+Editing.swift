import TileStorage
package import ZigguratFiles
package import ZigguratMetadata

/// Changes of a space by who has it open, as `LibraryEditor` makes them of the library.
extension SpaceLibrary {
  /// - Parameters:
  ///   - id: within the space.
  ///   - isCurrent: whether the image is as the editor saw it; asked while nobody else may write.
  package func edit(
    _ id: ImageID, _ edit: MetadataEdit, if isCurrent: () throws(MetadataUnavailable) -> Bool
  ) throws(StorageError) -> LibraryEditor.Outcome {
    var outcome = LibraryEditor.Outcome.done
    let isThere = try space.changeSidecar(ofID: id) { old in
      refresh()
      let edited = LibraryEditor.edited(old, edit, isPrivate: true, if: isCurrent)
      outcome = edited.outcome
      return edited.new
    }
    refresh()
    return isThere ? outcome : .notFound
  }
}

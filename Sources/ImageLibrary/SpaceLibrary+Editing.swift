import TileStorage
package import ZigguratFiles
package import ZigguratMetadata

/// Changes of an unlocked space, as `LibraryEditor` makes them in the library.
extension SpaceLibrary {
  /// - Parameters:
  ///   - id: the id within the space.
  ///   - isCurrent: whether the image is as the editor saw it. Called while no other change is possible.
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

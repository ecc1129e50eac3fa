package import TileStorage
package import ZigguratFiles

extension LibraryBuilder {
  /// The result of building one image.
  package enum Outcome: Sendable {
    case built(PyramidBuilder.Report)
    /// The archive there was built from the same bytes with the same options.
    case unchanged(SourceDamage?)
    /// The same, but this version would build it otherwise, and was not to (`--keep-outdated`).
    case outdated(SourceDamage?)
    /// The metadata of the source or its sidecar has changed and is in the archive now. The tiles are the same.
    case metadataUpdated(SourceDamage?)
    /// In a dry run: as `metadataUpdated`.
    case wouldUpdateMetadata
    /// The source has another name than when it was built, and its archive the id that goes with it now.
    case moved(from: ImageID)
    /// A dry run's word for that.
    case wouldMove(from: ImageID)
    /// A dry run's word for an image that is new or has changed, with the damage that is known without decoding it.
    case wouldBuild(SourceDamage?)
    /// The source's file has no such page any more, or it is one that is left out, as a slide's label: its archive is
    /// in the trash.
    case withdrawn
    /// A dry run's word for that.
    case wouldWithdraw
    case failed(BuildError)
    /// Not built, since its id is another image's.
    case refused(BuildError)
  }
}

extension LibraryBuilder.Outcome {
  /// The word that reports have for it.
  package var status: String {
    switch self {
    case .built: "built"
    case .unchanged: "unchanged"
    case .outdated: "outdated"
    case .metadataUpdated: "metadata-updated"
    case .wouldUpdateMetadata: "would update metadata"
    case .moved: "moved"
    case .wouldMove: "would move"
    case .wouldBuild: "would build"
    case .withdrawn: "pruned"
    case .wouldWithdraw: "would prune"
    case .failed, .refused: "failed"
    }
  }

  /// Whether an image with this status in a report is in the library. `kept` and `reworded` are the names of earlier
  /// versions.
  package static func isInLibrary(_ status: String) -> Bool {
    ["built", "unchanged", "outdated", "kept", "metadata-updated", "reworded", "moved"].contains(status)
  }

  /// The source's damage that the archive shows.
  package var damage: SourceDamage? {
    switch self {
    case .built(let report): report.damage
    case .unchanged(let damage), .outdated(let damage), .metadataUpdated(let damage), .wouldBuild(let damage):
      damage
    case .wouldUpdateMetadata, .moved, .wouldMove, .failed, .refused, .withdrawn, .wouldWithdraw: nil
    }
  }

  /// Why it was not built; nil where it was, or need not be.
  package var failure: BuildError? {
    switch self {
    case .failed(let failure), .refused(let failure): failure
    case .built, .unchanged, .outdated, .metadataUpdated, .wouldUpdateMetadata, .moved, .wouldMove,
      .wouldBuild, .withdrawn,
      .wouldWithdraw:
      nil
    }
  }
}

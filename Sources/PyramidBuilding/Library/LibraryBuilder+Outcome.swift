package import Files
package import TileStorage

extension LibraryBuilder {
  /// How one image came out.
  package enum Outcome: Sendable {
    case built(PyramidBuilder.Report)
    /// The archive there was built from the same bytes with the same options.
    case unchanged(SourceDamage?)
    /// The same, but this version would build it otherwise.
    case kept(SourceDamage?)
    /// The source's words have changed, or those beside it, and are in the archive now; its tiles are as they were.
    case reworded(SourceDamage?)
    /// A dry run's word for that.
    case wouldReword
    /// The source has another name than when it was built, and its archive the id that goes with it now.
    case moved(from: ImageID)
    /// A dry run's word for that.
    case wouldMove(from: ImageID)
    /// A dry run's word for an image that is new or has changed, with the damage that is known without decoding it.
    case wouldBuild(SourceDamage?)
    /// The source's file has no such page any more, or it is one that is left out, as a slide's label: its archive is in
    /// the trash.
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
    case .kept: "kept"
    case .reworded: "reworded"
    case .wouldReword: "would reword"
    case .moved: "moved"
    case .wouldMove: "would move"
    case .wouldBuild: "would build"
    case .withdrawn: "pruned"
    case .wouldWithdraw: "would prune"
    case .failed, .refused: "failed"
    }
  }

  /// Whether an image of which reports have this word is in the library.
  package static func isInLibrary(_ status: String) -> Bool {
    ["built", "unchanged", "kept", "reworded", "moved"].contains(status)
  }

  /// The source's damage that the archive shows.
  package var damage: SourceDamage? {
    switch self {
    case .built(let report): report.damage
    case .unchanged(let damage), .kept(let damage), .reworded(let damage), .wouldBuild(let damage): damage
    case .wouldReword, .moved, .wouldMove, .failed, .refused, .withdrawn, .wouldWithdraw: nil
    }
  }

  /// Why it was not built; nil where it was, or need not be.
  package var failure: BuildError? {
    switch self {
    case .failed(let failure), .refused(let failure): failure
    case .built, .unchanged, .kept, .reworded, .wouldReword, .moved, .wouldMove, .wouldBuild, .withdrawn,
      .wouldWithdraw:
      nil
    }
  }
}

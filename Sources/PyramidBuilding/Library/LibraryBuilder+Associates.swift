import ZigguratFiles
import ZigguratImaging

extension LibraryBuilder {
  /// Builds the associated images of a slide, if they are requested and the slide has an archive.
  ///
  /// - Parameters:
  ///   - outcome: the outcome of the slide.
  ///   - taken: the ids of all sources.
  func buildAssociates(
    of work: PictureJob, _ outcome: Outcome, besides taken: Set<ImageID>,
    with pictures: any PictureBuilder, report: (SourceScan.Source, Outcome) -> Void
  ) {
    switch outcome {
    case .built, .outdated, .moved, .unchanged, .metadataUpdated: break
    case .wouldBuild, .wouldMove, .wouldUpdateMetadata, .failed, .refused, .withdrawn, .wouldWithdraw: return
    }
    guard options.keepsAssociated, !isDryRun, let names = record(of: work.source)?.associatedImages else {
      return
    }
    buildAssociates(
      AssociatedImage.allCases.filter { names.contains($0.rawValue) }, of: work, besides: taken,
      with: pictures, report: report)
  }

  /// Builds these as images of the ids `id/label`, `id/macro`, …
  func buildAssociates(
    _ names: [AssociatedImage], of work: PictureJob, besides taken: Set<ImageID>,
    with pictures: any PictureBuilder, report: (SourceScan.Source, Outcome) -> Void
  ) {
    guard options.keepsAssociated, !isDryRun else { return }
    let source = work.source
    for name in names {
      guard let id = ImageID("\(source.id.text)/\(name.rawValue)") else { continue }
      var part = SourceScan.Source(path: source.path, id: id, name: source.name, root: source.root)
      part.remote = source.remote
      guard !taken.contains(id) else {
        let reason = "its \(name.rawValue) has the same id '\(id)' as another image"
        report(part, .refused(BuildError(source.path, reason)))
        continue
      }
      do throws(BuildError) {
        if isCancelled() { throw .interrupted }
        if let refused = try refused(part, work.digest) {
          report(part, refused)
          continue
        }
        if !force, let known = failures?.failure(of: part, digest: work.digest) { throw known }
        var metadata = try SourceSidecar(of: source)?.metadata() ?? .none
        metadata.pixelDigest = work.metadata.pixelDigest ?? record(of: source)?.pixelDigest
        var one = PictureJob(
          source: part, file: work.file, digest: work.digest, metadata: metadata, contents: work.contents)
        one.associated = name
        report(part, settled(part, one) ?? pictures.build(part: one))
      } catch { report(part, .failed(error)) }
    }
  }
}

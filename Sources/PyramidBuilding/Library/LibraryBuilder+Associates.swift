import Files
import Imaging

extension LibraryBuilder {
  /// Builds what a slide holds beside its picture, where that was asked for and its picture is there, as images of the
  /// ids `id/label`, `id/macro` and `id/thumbnail`.
  ///
  /// - Parameters:
  ///   - outcome: of the slide's picture.
  ///   - taken: the ids of all sources.
  func buildAssociates(
    of source: SourceScan.Source, _ outcome: Outcome, besides taken: Set<ImageID>,
    report: (SourceScan.Source, Outcome) -> Void, _ build: (CellBuilder.Work) -> Outcome
  ) {
    switch outcome {
    case .built, .kept, .moved, .unchanged, .reworded: break
    case .wouldBuild, .wouldMove, .wouldReword, .failed, .refused: return
    }
    guard options.keepsAssociated, !isDryRun, let record = record(of: source) else { return }
    for name in AssociatedImage.allCases where record.associatedImages?.contains(name.rawValue) == true {
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
        if let refused = try refused(part, record.sourceDigest) {
          report(part, refused)
          continue
        }
        if !force, let known = failures?.failure(of: part, digest: record.sourceDigest) { throw known }
        var words = try SourceSidecar(of: source)?.words() ?? .none
        words.pixelDigest = record.pixelDigest
        var work = CellBuilder.Work(
          source: part, file: try SourceFile(path: source.path, name: source.name),
          digest: record.sourceDigest, words: words)
        work.associated = name
        report(part, settled(part, work) ?? build(work))
      } catch { report(part, .failed(error)) }
    }
  }
}

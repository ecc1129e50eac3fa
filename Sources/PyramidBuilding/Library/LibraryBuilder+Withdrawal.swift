import TileStorage
import ZigguratFiles

extension LibraryBuilder {
  /// Moves archives of earlier builds to the trash if their pictures are no longer pages of the source, in particular a
  /// slide's label. Does so whether or not the build prunes.
  ///
  /// - Parameters:
  ///   - pages: the number of pages of the source; 0 for a single picture.
  ///   - outcome: the outcome of a single picture.
  func withdraw(
    of work: PictureJob, pages: Int, _ outcome: Outcome?, report: (SourceScan.Source, Outcome) -> Void
  ) {
    guard let contents = work.contents, !contents.leftOut.isEmpty, work.source.folio == nil, !isCancelled()
    else {
      return
    }
    let source = work.source
    // The id's archives are another source's.
    if case .refused? = outcome { return }
    let hasFailed = outcome?.failure != nil
    // A label alone was asked for, and has taken the place of its own archive.
    let isAlone = options.keepsAssociated && contents.pages.isEmpty
    for page in 0...contents.directoryCount {
      let id = page == 0 ? source.id : source.id.page(page)
      guard store.holds(id), let record = store.buildRecord(ofID: id), record.sourceName == work.file.name,
        record.folio == nil, record.associatedAs == nil, record.page ?? 0 == page
      else { continue }
      let isPublished =
        !isAlone && record.sourceDigest == work.digest && contents.published(by: record) != nil
      // If the picture could not be built, or pages may be missing, the old one stays, unless it is private.
      let isOld =
        !hasFailed && contents.damage == nil && (pages > 0 ? page == 0 || page > pages : page > 0)
      guard isPublished || isOld else { continue }
      let part = SourceScan.Source(path: source.path, id: id, name: source.name, root: source.root)
      guard isOwn(part, pageOf: page == 0 ? nil : source.id, work.digest) else { continue }
      report(part, isDryRun ? .wouldWithdraw : trash(part))
    }
  }

  /// Whether the image is the source's to withdraw.
  private func isOwn(_ part: SourceScan.Source, pageOf book: ImageID?, _ digest: String) -> Bool {
    do throws(BuildError) { return try refused(part, pageOf: book, digest) == nil } catch { return false }
  }

  private func trash(_ part: SourceScan.Source) -> Outcome {
    do throws(StorageError) {
      if let error = try store.trash([part.id]).errors.first { throw error }
      return .withdrawn
    } catch { return .failed(BuildError(part.path, error)) }
  }
}

import TileStorage
import ZigguratFiles

/// Sources that have another name than when they were built.
extension LibraryBuilder {
  /// Returns the former id of the source's image, which has the source's id now, or would have; nil for a source that
  /// is not new, or new to the library.
  func moved(_ source: SourceScan.Source, _ work: PictureJob, page: Int?) throws(StorageError)
    -> ImageID?
  {
    if page == nil, work.associated == nil, let former = gone?.former(of: source.id) { return former }
    let made = MissingImages.Made(digest: work.digest, page: page, associatedAs: work.associated?.rawValue)
    guard let gone, !store.holds(source.id), let former = gone.take(made, for: source.id) else { return nil }
    if isDryRun { return former }
    let name = source.folio ?? page.map { _ in source.id.name }
    return try store.move(former, to: source.id, pageName: name) ? former : nil
  }

  /// Updates the archive of `former`, so that it has the metadata of one built under the new name.
  func settled(
    _ source: SourceScan.Source, _ work: PictureJob, _ record: BuildRecord, _ former: ImageID
  ) -> Outcome {
    let isNamed =
      former.name == source.id.name && record.sourceName == work.file.name && record.folio == source.folio
    guard !isNamed || record.sidecarDigest != work.metadata.digest else { return .moved(from: former) }
    do throws(StorageError) {
      _ = try store.rewrite(id: source.id) { record, own in
        var record = record
        record.sourceName = work.file.name
        if record.folio != source.folio { (record.folio, record.page) = (source.folio, nil) }
        return work.metadata.metadata(record, own: own)
      }
      return .moved(from: former)
    } catch { return .failed(BuildError(source.path, error)) }
  }
}

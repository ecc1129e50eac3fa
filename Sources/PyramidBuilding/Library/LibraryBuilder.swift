package import Files
package import TileStorage

/// Builds the archives of many images into one store.
package struct LibraryBuilder: Sendable {
  package let store: any ArchiveStore
  package var options: BuildOptions
  /// Threads in all.
  package var jobs: Int
  /// Builds what is there and unchanged again, too.
  package var force = false
  /// Tells what would be built and writes nothing.
  package var isDryRun = false
  /// Seconds that one image may take in a cell.
  package var imageTimeout = 600
  let isCancelled: @Sendable () -> Bool

  package init(
    store: any ArchiveStore, options: BuildOptions, jobs: Int,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    (self.store, self.options, self.jobs, self.isCancelled) = (store, options, jobs, isCancelled)
  }

  /// Into a library's folder, one SZI archive per image.
  package init(
    library: String, options: BuildOptions, jobs: Int, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.init(
      store: FolderStore(library: library), options: options, jobs: jobs, isCancelled: isCancelled)
  }

  /// How one image came out.
  package enum Outcome: Sendable {
    case built(PyramidBuilder.Report)
    /// The archive there was built from the same bytes with the same options.
    case unchanged
    /// The source's words have changed, or those beside it, and are in the archive now; its tiles are as they were.
    case reworded
    /// A dry run's word for that.
    case wouldReword
    /// A dry run's word for an image that is new or has changed.
    case wouldBuild
    case failed(BuildError)
    /// Not built, since its id is another image's.
    case refused(BuildError)
  }

  /// Makes what is missing of the store and clears away what killed builders left.
  package func prepare() throws(StorageError) {
    if !isDryRun { try store.prepare() }
  }

  /// Builds one source, each of its pages, in this process; every failure is in an outcome. The source's pages have
  /// the ids `id/1`, `id/2`, …
  ///
  /// - Parameter taken: the ids of all sources, none of which a page may have.
  func build(
    _ source: SourceScan.Source, threads: Int, besides taken: Set<ImageID>, offering pool: WorkPool? = nil,
    report: (SourceScan.Source, Outcome) -> Void
  ) {
    do throws(BuildError) {
      let beginning = try begin(source)
      guard case .work(let work) = beginning else { return report(source, beginning.outcome) }
      let pages = try SourcePages.count(path: source.path)
      if pages == 1 { return report(source, build(source, page: nil, work, threads, pool)) }
      try forPages(pages, of: work, besides: taken, report: report) { part, page in
        build(part, page: page, work, threads, pool)
      }
    } catch {
      report(source, .failed(error))
    }
  }

  /// The same in a cell.
  ///
  /// - Parameter upcoming: what may be built in the same cell afterwards.
  func build(
    _ source: SourceScan.Source, in cells: CellBuilder, before upcoming: () -> ArraySlice<SourceScan.Source>,
    besides taken: Set<ImageID>, report: (SourceScan.Source, Outcome) -> Void
  ) {
    do throws(BuildError) {
      let beginning = try begin(source)
      guard case .work(let work) = beginning else { return report(source, beginning.outcome) }
      switch cells.build(work, before: upcoming) {
      case .outcome(let outcome): report(source, outcome)
      case .pages(1): report(source, .wouldBuild)
      case .pages(let count):
        try forPages(count, of: work, besides: taken, report: report) { part, page in
          if isCancelled() { return .failed(.interrupted) }
          if let outcome = settled(part, work) { return outcome }
          if isDryRun { return .wouldBuild }
          var one = CellBuilder.Work(source: part, file: work.file, digest: work.digest, words: work.words)
          one.page = page
          guard case .outcome(let outcome) = cells.build(one, before: { [] }) else {
            return .failed(BuildError(part.path, "a page of it is several pages"))
          }
          return outcome
        }
      }
    } catch { report(source, .failed(error)) }
  }

  /// What a look at a source and its archive comes to.
  private enum Beginning {
    case settled(Outcome)
    case work(CellBuilder.Work)

    var outcome: Outcome {
      if case .settled(let outcome) = self { return outcome }
      preconditionFailure("work has no outcome yet")
    }
  }

  /// The source open and digested, unless its archive is what would be built again, or needs other words alone.
  private func begin(_ source: SourceScan.Source) throws(BuildError) -> Beginning {
    if isCancelled() { throw .interrupted }
    let file = try SourceFile(path: source.path, name: source.name)
    let (digest, pixelDigest) = try file.digests(isCancelled)
    let beside = try SourceSidecar(of: source)
    if !force, let record = record(of: source), record.sourceDigest == digest,
      record.sidecarDigest == beside?.digest
    {
      return .settled(.unchanged)
    }
    var words = try beside?.words() ?? .none
    words.pixelDigest = pixelDigest
    let work = CellBuilder.Work(source: source, file: file, digest: digest, words: words)
    return settled(source, work).map { .settled($0) } ?? .work(work)
  }

  /// How it came out without tiling; nil where it has to be tiled.
  private func settled(_ source: SourceScan.Source, _ work: CellBuilder.Work) -> Outcome? {
    guard !force, let record = record(of: source) else { return nil }
    let hasSameWords = record.sourceDigest == work.digest
    let hasSamePixels = record.pixelDigest != nil && record.pixelDigest == work.words.pixelDigest
    guard hasSameWords || hasSamePixels else { return nil }
    if hasSameWords, record.sidecarDigest == work.words.digest { return .unchanged }
    if isDryRun { return .wouldReword }
    var words: ImageMetadata?
    if !hasSameWords {
      // What fails here may succeed as a build, or fail with the reason.
      guard
        let found = try? SourceInspection(path: source.path, options: options, seconds: imageTimeout),
        (try? work.file.isUnchanged()) == true
      else { return nil }
      words = found.metadata
    }
    do throws(StorageError) {
      let isWritten = try store.rewrite(id: source.id) { record, own in
        var record = record
        (record.sourceDigest, record.sourceBytes) = (work.digest, work.file.identity.size)
        return work.words.words(record, own: words ?? own)
      }
      return isWritten ? .reworded : nil
    } catch { return .failed(BuildError(source.path, error)) }
  }

  private func forPages(
    _ count: Int, of work: CellBuilder.Work, besides taken: Set<ImageID>,
    report: (SourceScan.Source, Outcome) -> Void, _ build: (SourceScan.Source, Int) -> Outcome
  ) throws(BuildError) {
    let source = work.source
    guard source.page == nil else {
      throw BuildError(source.path, "has \(count) pages; in a book every page is a file of its own")
    }
    for page in 0..<count {
      let part = SourceScan.Source(
        path: source.path, id: source.id.page(page + 1), name: source.name, root: source.root)
      guard !taken.contains(part.id) else {
        let reason = "page \(page + 1) has the same id '\(part.id)' as another image"
        report(part, .refused(BuildError(source.path, reason)))
        continue
      }
      report(part, build(part, page))
    }
  }

  private func build(
    _ source: SourceScan.Source, page: Int?, _ work: CellBuilder.Work, _ threads: Int, _ pool: WorkPool?
  ) -> Outcome {
    do throws(BuildError) {
      if isCancelled() { throw .interrupted }
      if page != nil, let outcome = settled(source, work) { return outcome }
      if isDryRun { return .wouldBuild }
      return .built(
        try PyramidBuilder(options: options, threads: threads, isCancelled: isCancelled)
          .build(
            work.file, page: page, bookPage: source.page, digest: work.digest, words: work.words, for: pool
          ) {
            (pyramid, format) throws(StorageError) in
            try store.makeWriter(id: source.id, pyramid: pyramid, format: format)
          })
    } catch {
      return .failed(error)
    }
  }

  /// Of an archive that is there, built with the same options.
  private func record(of source: SourceScan.Source) -> BuildRecord? {
    guard let record = store.buildRecord(ofSoundID: source.id) else { return nil }
    return record.options == options.summary(ofSource: record.sourceName) ? record : nil
  }
}

public import TileStorage

/// Builds the archives of many images into one store.
public struct LibraryBuilder: Sendable {
  public let store: any ArchiveStore
  public var options: BuildOptions
  /// Threads in all.
  public var jobs: Int
  /// Builds what is there and unchanged again, too.
  public var force = false
  /// Tells what would be built and writes nothing.
  public var isDryRun = false
  private let isCancelled: @Sendable () -> Bool

  public init(
    store: any ArchiveStore, options: BuildOptions, jobs: Int,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    (self.store, self.options, self.jobs, self.isCancelled) = (store, options, jobs, isCancelled)
  }

  /// Into a library's folder, one SZI archive per image.
  public init(
    library: String, options: BuildOptions, jobs: Int, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.init(
      store: FolderStore(library: library), options: options, jobs: jobs, isCancelled: isCancelled)
  }

  /// How one image came out.
  public enum Outcome: Sendable {
    case built(PyramidBuilder.Report)
    /// The archive there was built from the same bytes with the same options.
    case unchanged
    /// A dry run's word for an image that is new or has changed.
    case wouldBuild
    case failed(BuildError)
    /// Not built, since its id is another image's.
    case refused(BuildError)
  }

  /// Makes what is missing of the store and clears away what killed builders left.
  public func prepare() throws(StorageError) {
    if !isDryRun { try store.prepare() }
  }

  /// Builds one source, each of its pages; every failure is in an outcome. The source's pages have the
  /// ids `id/1`, `id/2`, …
  ///
  /// - Parameter taken: the ids of all sources, none of which a page may have.
  func build(
    _ source: SourceScan.Source, threads: Int, besides taken: Set<String>, offering pool: WorkPool? = nil,
    report: (SourceScan.Source, Outcome) -> Void
  ) {
    do throws(BuildError) {
      if isCancelled() { throw .interrupted }
      let file = try SourceFile(path: source.path, name: source.name)
      let digest = try file.digest()
      if !force, isBuilt(source, digest) { return report(source, .unchanged) }
      let pages = try SourcePages.count(path: source.path)
      if pages == 1 {
        return report(source, build(source, page: nil, file, digest, threads, pool))
      }
      guard source.page == nil else {
        throw BuildError(source.path, "has \(pages) pages; in a book every page is a file of its own")
      }
      for page in 0..<pages {
        let part = SourceScan.Source(path: source.path, id: "\(source.id)/\(page + 1)")
        guard !taken.contains(part.id) else {
          let reason = "page \(page + 1) has the same id '\(part.id)' as another image"
          report(part, .refused(BuildError(source.path, reason)))
          continue
        }
        report(part, build(part, page: page, file, digest, threads, pool))
      }
    } catch {
      report(source, .failed(error))
    }
  }

  private func build(
    _ source: SourceScan.Source, page: Int?, _ file: SourceFile, _ digest: String, _ threads: Int,
    _ pool: WorkPool?
  ) -> Outcome {
    do throws(BuildError) {
      if isCancelled() { throw .interrupted }
      if !force, page != nil, isBuilt(source, digest) { return .unchanged }
      if isDryRun { return .wouldBuild }
      return .built(
        try PyramidBuilder(options: options, threads: threads, isCancelled: isCancelled)
          .build(file, page: page, bookPage: source.page, digest: digest, offering: pool) {
            (pyramid, format) throws(StorageError) in
            try store.makeWriter(id: source.id, pyramid: pyramid, format: format)
          })
    } catch {
      return .failed(error)
    }
  }

  /// Archives that Ziggurat built and that belong to none of `sources`; removed unless this is a dry run.
  ///
  /// - Parameter met: what the builds of the sources met; of a source that none has met, or that could not
  ///   be read, everything stays.
  /// - Returns: the ids, sorted.
  public func prune(
    keeping met: MetImages, of sources: [SourceScan.Source]
  ) throws(StorageError) -> [String] {
    let kept = met.kept(of: sources)
    let ids = try store.builtIDs().filter { id in !kept.holds(id) { store.buildRecord(ofID: id) } }
    if !isDryRun { for id in ids { try store.remove(id: id) } }
    return ids
  }

  private func isBuilt(_ source: SourceScan.Source, _ digest: String) -> Bool {
    guard let record = store.buildRecord(ofID: source.id) else { return false }
    return record.sourceDigest == digest && record.options == options.summary
  }
}

package import TileStorage
package import ZigguratFiles
import ZigguratMetadata
import ZigguratSandbox

/// Builds the archives of many images into one store.
package struct LibraryBuilder: Sendable {
  package let store: any ArchiveStore
  package var options: BuildOptions
  /// Whether tile size, format, fidelity, quality or `failOn` differ from the program's, with which its sandboxed
  /// processes started.
  package var hasOwnOptions = false
  /// The total number of threads.
  package var jobs: Int
  /// Whether to rebuild images that exist and are unchanged.
  package var force = false
  /// Whether to keep archives that another version of the program built from the same source with the same options.
  package var keepsOld = false
  /// The only images to build; nil for all.
  package var rebuildList: RebuildList?
  /// The images that new sources may be renames of; nil if renames are not detected.
  package var gone: MissingImages?
  /// The sources that own the images of the library; nil if this build owns all images.
  package var ownership: ImageOwnership?
  /// Images that earlier builds failed to build.
  package var failures: KnownFailures?
  /// Whether the sources are uploads, which never replace an image of other content.
  package var isOfUploads = false
  /// Whether to report what would be built, without writing anything.
  package var isDryRun = false
  /// A cache of the digests of unchanged sources.
  package var ledger: DigestCache?
  /// The storage of sources that have to be copied first; nil if there is none.
  package var remote: (any RemoteSources)?
  /// The limits for the result of one source; nil if the sources are trusted.
  package var allowance: BuildAllowance?
  /// Whether the file at that path may still be being written. If such a file is damaged, it is refused, because the
  /// missing part may follow.
  package var isGrowing: (@Sendable (_ path: String) -> Bool)?
  /// The password of encrypted PDFs, sent only to sandboxed processes that read a PDF; nil if there is none.
  package var pdfPassword: String?
  /// The timeout in seconds for one image in a sandboxed process.
  package var imageTimeout = 600
  /// Called for each ignored file beside a source, from any thread.
  package var onIgnored: @Sendable (BuildError) -> Void = { _ in }
  /// Called with the completed fraction of a picture, from any thread.
  package var onProgress: (@Sendable (Double) -> Void)?
  let isCancelled: @Sendable () -> Bool

  package init(
    store: any ArchiveStore, options: BuildOptions, jobs: Int,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.store = store
    self.options = options
    self.jobs = jobs
    self.isCancelled = isCancelled
  }

  /// Creates a builder of a library's folder, with one SZI archive per image.
  package init(
    library: String, options: BuildOptions, jobs: Int, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.init(
      store: FolderStore(library: library), options: options, jobs: jobs, isCancelled: isCancelled)
  }

  /// Creates missing parts of the store and removes the remains of killed builders.
  package func prepare() throws(StorageError) {
    if !isDryRun { try store.prepare() }
  }

  /// Builds one source: each of its pages, and its associated images. The pages have the ids `id/1`, `id/2`, …
  ///
  /// - Parameters:
  ///   - upcoming: the sources that follow in the queue.
  ///   - taken: the ids of all sources, which no page may have.
  ///   - report: called with every outcome; every error is in one.
  func build(
    _ source: SourceScan.Source, with pictures: any PictureBuilder,
    before upcoming: () -> ArraySlice<SourceScan.Source>, besides taken: Set<ImageID>,
    report: @escaping (SourceScan.Source, Outcome) -> Void
  ) {
    defer { failures?.end(source) }
    do throws(BuildError) {
      guard let work = try begin(source) else { return }
      func end(_ outcome: Outcome) {
        report(source, outcome)
        buildAssociates(of: work, outcome, besides: taken, with: pictures, report: report)
        withdraw(of: work, pages: 0, outcome, report: report)
      }
      if let outcome = work.outcome { return end(outcome) }
      switch pictures.build(work, before: upcoming) {
      case .outcome(let outcome): end(outcome)
      case .pages(let pages) where pages.count == 1: end(.wouldBuild(work.contents?.damage))
      case .pages(let pages):
        try checkPages(pages, of: source)
        let isRefused = try isRefused(pages, of: work)
        let leftOut = NamesLeftOut(pages)
        let queue = PartQueue(count: pages.count) { (page, pictures) throws(BuildError) in
          let (part, outcome) = try build(page, of: pages, of: work, besides: taken, with: pictures)
          return { report(part, leftOut.added(to: outcome)) }
        }
        try pictures.pool.finish(queue, pictures)
        if isRefused { return }
        buildAssociates(pages.associated, of: work, besides: taken, with: pictures, report: report)
        try keep(pages.book, of: work)
        withdraw(of: work, pages: pages.count, nil, report: report)
      }
    } catch { report(source, .failed(error)) }
  }

  /// Opens and digests the source. The work already has an outcome if the source's archive is current, or if only its
  /// metadata has changed.
  ///
  /// - Returns: nil for a source that is postponed within this run.
  private func begin(_ source: SourceScan.Source) throws(BuildError) -> PictureJob? {
    if isCancelled() { throw .interrupted }
    if !force, let known = failures?.failure(of: source) { throw known }
    let file = try SourceFile(path: source.path, name: source.name, within: source.enclosure)
    if let planned = source.planned, planned != SourcePlan.Version(file.identity) {
      throw BuildError(source.path, "has changed since the plan was made")
    }
    // Before an archive's record is trusted: earlier versions built previews, and labels as pages. If a digest cache
    // has the source, it is not read again for that.
    var contents = ledger == nil ? try SourceContents.of(file, options) : nil
    let (digest, pixelDigest) =
      if let ledger {
        try ledger.digests(of: file, source.remote, isCancelled)
      } else {
        try file.digests(isCancelled)
      }
    let beside = try SourceSidecar(of: source)
    var work = PictureJob(source: source, file: file, digest: digest, metadata: .none, contents: contents)
    if let refused = try refused(source, digest) {
      work.outcome = refused
      return work
    }
    if let known = failures?.failure(of: source, digest: digest), !force { throw known }
    if let rebuildList {
      guard rebuildList.isOf(source.id, digest) else {
        throw BuildError(source.path, "has changed since its archive was built: a build takes the change in")
      }
      work.metadata = try metadata(beside, pixelDigest, contents)
      // If the list lacks the source's id, it has one of its pages or associated images.
      if !rebuildList.asksFor(source.id), record(of: source)?.sourceDigest == digest {
        work.outcome = .unchanged(nil)
      }
      return work
    }
    if !force, gone?.former(of: source.id) == nil {
      if let record = record(of: source), record.sourceDigest == digest, record.sourceName == file.name,
        record.sidecarDigest == beside?.digest, record.folio == source.folio,
        contents?.agrees(with: record, page: nil) != false
      {
        work.outcome = unchanged(record)
        return work
      }
      if gone?.postpones(source, digest, pixels: pixelDigest) == true { return nil }
    }
    if ledger != nil {
      contents = try SourceContents.of(file, options)
      work.contents = contents
    }
    work.metadata = try metadata(beside, pixelDigest, contents)
    work.outcome = settled(source, work)
    return work
  }

  private func metadata(
    _ beside: SourceSidecar?, _ pixelDigest: String?, _ contents: SourceContents?
  ) throws(BuildError) -> SourceMetadata {
    var metadata = try beside?.metadata(onIgnored) ?? .none
    // A RAW file's metadata affects its development.
    metadata.pixelDigest = contents?.raw == nil ? pixelDigest : nil
    if isOfUploads { metadata.isUploaded = true }
    return metadata
  }

  /// Returns the outcome of a source whose image belongs to another source; nil if the image may be built.
  ///
  /// - Parameter book: the file that contains the source as a page.
  func refused(
    _ source: SourceScan.Source, pageOf book: ImageID? = nil, _ digest: String
  ) throws(BuildError) -> Outcome? {
    do throws(StorageError) {
      guard
        let reason = try ownership?.refusal(of: source, pageOf: book ?? source.book, digest: digest)
      else { return nil }
      var error = BuildError(source.path, reason)
      error.absentOwner = ownership?.absentOwner(of: source.id, pageOf: book ?? source.book)
      return .refused(error)
    } catch { throw BuildError(source.path, error) }
  }

  /// Returns the options with which a source is built.
  func options(of source: SourceScan.Source) -> BuildOptions {
    var options = options
    if options.failOn == .none || options.failOn == .truncated, isGrowing?(source.path) == true {
      options.failOn = .error
    }
    return options
  }

  /// Whether an existing archive of this id is replaced.
  func mayReplace(_ id: ImageID, digest: String) -> Bool {
    if isOfUploads { return store.buildRecord(ofID: id)?.sourceDigest == digest }
    return ownership?.mayReplace(id) ?? true
  }

  /// Returns the digest of a source's content, after copying it to this machine if necessary; nil if it cannot be read.
  package func contentDigest(of source: SourceScan.Source) -> String? {
    guard source.remote != nil else {
      guard
        let file = try? SourceFile(path: source.path, name: source.name, within: source.enclosure)
      else { return nil }
      if let ledger { return try? ledger.digests(of: file, nil, isCancelled).content }
      return try? file.digests(isCancelled).content
    }
    if let digest = source.remote.flatMap({ ledger?.digest(of: $0) }) { return digest }
    guard case .success(.copied(let copy, let files)) = copy(of: source, always: true) else { return nil }
    return withExtendedLifetime(files) {
      try? SourceFile(path: copy.path, name: copy.name).digests(isCancelled).content
    }
  }

  /// Returns the outcome if no tiles have to be made; otherwise nil.
  ///
  /// - Parameter page: the page of a source of several pages, counted from 1.
  func settled(_ source: SourceScan.Source, _ work: PictureJob, page: Int? = nil) -> Outcome? {
    if let rebuildList { return rebuildList.asksFor(source.id) ? nil : .unchanged(nil) }
    var former: ImageID?
    do throws(StorageError) { former = try moved(source, work, page: page) } catch {
      return .failed(BuildError(source.path, error))
    }
    if isDryRun, let former { return .wouldMove(from: former) }
    if former != nil { ownership?.add(source.id) }
    guard !force, let record = record(of: source), work.contents?.agrees(with: record, page: page) != false
    else { return nil }
    if let former { return settled(source, work, record, former) }
    let hasSameMetadata = record.sourceDigest == work.digest
    let hasSamePixels = record.pixelDigest != nil && record.pixelDigest == work.metadata.pixelDigest
    guard hasSameMetadata || hasSamePixels else { return nil }
    if hasSameMetadata, record.sourceName == work.file.name, record.sidecarDigest == work.metadata.digest,
      record.folio == source.folio
    {
      return unchanged(record)
    }
    if isDryRun { return .wouldUpdateMetadata }
    var metadata: ImageMetadata?
    if !hasSameMetadata {
      // An inspection returns the first page's metadata.
      if let page, page > 1 { return nil }
      // A failure here may succeed as a build, or fail there with a reason.
      guard
        let found = try? SourceInspection(
          path: source.path, options: options, seconds: imageTimeout, pdfPassword: pdfPassword),
        (try? work.file.isUnchanged()) == true,
        // Equal pixels may be those of a file that is damaged now, or no longer damaged.
        record.damage == nil, found.damage == nil, work.contents?.damage == nil
      else { return nil }
      metadata = found.metadata
    }
    do throws(StorageError) {
      let isWritten = try store.rewrite(id: source.id) { record, own in
        var record = record
        record.sourceDigest = work.digest
        record.sourceBytes = work.file.identity.size
        record.sourceName = work.file.name
        // The source is now read as a page of a book, or no longer.
        if record.folio != source.folio { (record.folio, record.page) = (source.folio, nil) }
        return work.metadata.metadata(record, own: metadata ?? own)
      }
      return isWritten ? .metadataUpdated(record.damage) : nil
    } catch { return .failed(BuildError(source.path, error)) }
  }

  /// Stores the description of a source of several pages. Metadata beside the source take precedence over the source's
  /// own.
  private func keep(_ book: BookDescription?, of work: PictureJob) throws(BuildError) {
    if isDryRun || rebuildList != nil { return }
    // If a file has no book description, its sidecar provides one.
    var book = book ?? BookDescription()
    book.metadata = work.metadata.effective(book.metadata)
    try BookFile.keep(book, of: work.source.id, in: store)
  }

  private func checkPages(_ pages: PagesMessage, of source: SourceScan.Source) throws(BuildError) {
    guard source.folio != nil else { return }
    throw BuildError(
      source.path,
      "has \(pages.count) pages; in a book every page is a file of its own; build it without --book")
  }

  /// The pictures that a source of several pages leaves out, reported once, with the first built page.
  private final class NamesLeftOut {
    private var names: [String]

    init(_ pages: PagesMessage) { names = pages.leftOut.prefix(20).map(\.sanitizedLine) }

    /// Adds the names to the outcome of a page. Must be called for one page at a time.
    func added(to outcome: Outcome) -> Outcome {
      guard case .built(var built) = outcome else { return outcome }
      built.leftOut = names
      names = []
      return .built(built)
    }
  }

  /// - Parameter page: the page, counted from 0.
  private func part(_ page: Int, of source: SourceScan.Source) -> SourceScan.Source {
    var part = SourceScan.Source(
      path: source.path, id: source.id.page(page + 1), name: source.name, root: source.root)
    part.remote = source.remote
    return part
  }

  /// Whether any page of the source belongs to another source. If one does, all are refused.
  private func isRefused(_ pages: PagesMessage, of work: PictureJob) throws(BuildError) -> Bool {
    for page in 0..<pages.count
    where try refused(part(page, of: work.source), pageOf: work.source.id, work.digest) != nil {
      return true
    }
    return false
  }

  /// - Parameter number: the page's number, counted from 0.
  private func build(
    _ number: Int, of pages: PagesMessage, of work: PictureJob, besides taken: Set<ImageID>,
    with pictures: any PictureBuilder
  ) throws(BuildError) -> (SourceScan.Source, Outcome) {
    let source = work.source
    let part = part(number, of: source)
    guard !taken.contains(part.id) else {
      let reason = "page \(number + 1) has the same id '\(part.id)' as another image"
      return (part, .refused(BuildError(source.path, reason)))
    }
    if let refused = try refused(part, pageOf: source.id, work.digest) { return (part, refused) }
    if !force, let known = failures?.failure(of: part, digest: work.digest) { return (part, .failed(known)) }
    if isCancelled() { return (part, .failed(.interrupted)) }
    if let outcome = settled(part, work, page: number + 1) { return (part, outcome) }
    if isDryRun { return (part, .wouldBuild(number == 0 ? work.contents?.damage : nil)) }
    var page = work
    page.source = part
    page.page = pages.page(number)
    return (part, pictures.build(part: page))
  }

  /// Returns the record of the source's archive; nil if there is none, or it was built with other options.
  func record(of source: SourceScan.Source) -> BuildRecord? {
    guard let record = store.buildRecord(ofSoundID: source.id) else { return nil }
    // The image is rebuilt, so that the build reports why it is refused.
    if let damage = record.damage, options.failOn.refuses(damage) { return nil }
    let now = options.summary(ofSource: record.sourceName)
    let isSame =
      record.options == now || keepsOld && BuildOptions.asked(record.options) == BuildOptions.asked(now)
    return isSame ? record : nil
  }

  func unchanged(_ record: BuildRecord) -> Outcome {
    record.options == options.summary(ofSource: record.sourceName)
      ? .unchanged(record.damage) : .outdated(record.damage)
  }
}

import ZigguratConcurrency
import ZigguratFiles
import ZigguratImaging
import ZigguratSandbox

/// Builds many images at once: one thread per image while there are images enough, then all threads on
/// those that are left.
package final class LibraryRun: @unchecked Sendable {
  // Sendable: `queue` and `next` are touched under `monitor` only, or by one thread, and `report` is called under it.
  private let monitor = ConditionLock()
  private let builder: LibraryBuilder
  private let sources: [SourceScan.Source]
  private let taken: Set<ImageID>
  private let pool: WorkPool
  private let report: (SourceScan.Source, LibraryBuilder.Outcome) -> Void
  private let journal: ShardReport?
  /// The sources that are built now.
  private var queue: [SourceScan.Source] = []
  private var next = 0

  /// - Parameters:
  ///   - taken: the ids of sources that are not built in this run but belong to the library.
  ///   - memoryLimit: bytes that all images in work together may take.
  ///   - journal: gets what is told of images, too, and knows which sources may have been the end of builders.
  ///   - report: called once for each image or page, never twice at a time.
  package init(
    _ builder: LibraryBuilder, _ sources: [SourceScan.Source], besides taken: [SourceScan.Source] = [],
    memoryLimit: Int, journal: ShardReport? = nil,
    report: @escaping (SourceScan.Source, LibraryBuilder.Outcome) -> Void
  ) {
    // While there is one thread: those of a progress display and of this run come later.
    if ProcessLauncher.running == nil { Vips.start() }
    self.builder = builder
    self.sources = sources
    self.report = report
    self.journal = journal
    self.taken = Set((sources + taken).map(\.id))
    pool = WorkPool(memoryLimit: memoryLimit)
  }

  /// The images in work now.
  package var progress: [PictureProgress] { pool.progress }

  /// Returns when every image is built or has failed, or when the build was cancelled.
  package func run() {
    if let journal { return run(journal) }
    guard let gone = builder.gone, !builder.force else { return run(sources) }
    // What has an archive first: where some have changed, others may be what they were.
    let known = Set(
      sources.indices.filter { at in
        builder.store.holds(sources[at].id) || builder.store.holds(sources[at].id.page(1))
      })
    guard !known.isEmpty else { return run(sources) }
    let others = sources.indices.filter { !known.contains($0) }.map { sources[$0] }
    gone.beginLooking()
    run(known.sorted().map { sources[$0] })
    let changed = gone.exchange(among: others, isDryRun: builder.isDryRun, builder.isCancelled)
    if !builder.isDryRun {
      for id in gone.takeReplaced() {
        let what = "was replaced by a renamed image: its archive and its metadata are in the trash"
        builder.onIgnored(BuildError(id.text, what))
      }
    }
    // What waited may be told by a copy of it, which is gone.
    let again = Set(changed.map(\.id))
    run(others + sources.filter { again.contains($0.id) })
  }

  /// Sources that may have been the end of builders come last, and nothing is built beside them.
  private func run(_ journal: ShardReport) {
    let last = ShardReport.mostStarts - 1
    run(sources.filter { journal.lostStarts(of: $0) < last })
    for source in sources where journal.lostStarts(of: source) >= last {
      if builder.isCancelled() { return }
      let starts = journal.lostStarts(of: source)
      if starts == last {
        run([source])
      } else {
        let reason = "\(starts) builders have begun it, and it was the end of each"
        report(source, .failed(BuildError(source.path, reason)), of: source)
        journal.end(source)
      }
    }
  }

  /// - Parameter whole: the source of which the image is one, or a page.
  private func report(
    _ image: SourceScan.Source, _ outcome: LibraryBuilder.Outcome, of whole: SourceScan.Source
  ) {
    monitor.withLock {
      // What was cut off has no outcome yet.
      if let journal, outcome.failure?.kind != .cancelled {
        journal.add(image, outcome, of: whole, notice: builder.store.notice(of: image.id))
      }
      report(image, outcome)
    }
  }

  private func run(_ sources: [SourceScan.Source]) {
    guard !sources.isEmpty else { return }
    queue = sources
    next = 0
    pool.expect(pictures: sources.count)
    let elsewhere = sources.filter { $0.remote != nil }
    let copies =
      elsewhere.isEmpty
      ? nil
      : SourceCopies(elsewhere, ahead: builder.jobs) { [builder] in builder.copy(of: $0, always: false) }
    defer { copies?.end() }
    StartedThread.several(builder.jobs) { _ in
      let pictures = self.makePictureBuilder()
      while let source = self.takeSource() {
        // Who is killed while it waits for a store is none whose end the source was.
        let copy = source.remote == nil ? nil : copies?.take(source)
        self.journal?.start(source)
        if let copy {
          self.build(copyOf: source, copy, pictures)
        } else {
          self.builder.build(source, with: pictures, before: self.upcoming, besides: self.taken) {
            self.report($0, $1, of: source)
          }
        }
        if let journal = self.journal { self.end(source, journal) }
        self.pool.finishPicture()
      }
      pictures.end()
      self.pool.assist(with: pictures)
      pictures.end()
    }
  }

  /// Returns the builder of one thread.
  private func makePictureBuilder() -> any PictureBuilder {
    guard let server = ProcessLauncher.running else { return InProcessPictureBuilder(builder, pool) }
    return SandboxedPictureBuilder(server, builder, pool)
  }

  private func build(
    copyOf source: SourceScan.Source, _ copy: Result<SourceCopy, BuildError>, _ pictures: any PictureBuilder
  ) {
    switch copy {
    case .failure(let error): report(source, .failed(error), of: source)
    case .success(.settled(let outcome)): report(source, outcome, of: source)
    case .success(.copied(let copy, let files)):
      withExtendedLifetime(files) {
        builder.build(copy, with: pictures, before: upcoming, besides: taken) { [self] image, outcome in
          var attributed = SourceScan.Source(
            path: source.path, id: image.id, folio: image.folio, root: image.root)
          attributed.remote = source.remote
          report(attributed, outcome.attributed(of: source, copiedTo: copy.path), of: source)
        }
      }
    }
  }

  private func end(_ source: SourceScan.Source, _ journal: ShardReport) {
    // What others do not find yet is not done, which is nothing that the source can help.
    guard !builder.isCancelled(), builder.store.whenAnnounced({ journal.end(source) }) else {
      return journal.stop(source)
    }
  }

  private func takeSource() -> SourceScan.Source? {
    monitor.lock()
    defer { monitor.unlock() }
    guard next < queue.count else { return nil }
    next += 1
    return queue[next - 1]
  }

  /// The sources whose turn comes next, of which a thread may get one.
  private func upcoming() -> ArraySlice<SourceScan.Source> {
    monitor.withLock { queue[next...].prefix(SandboxedPictureBuilder.mostPictures - 1) }
  }
}

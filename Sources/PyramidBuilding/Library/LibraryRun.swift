import ZigguratConcurrency
import ZigguratFiles
import ZigguratImaging
import ZigguratSandbox

/// Builds many images concurrently: one thread per image while enough images are left, then all threads on the
/// remaining images.
package final class LibraryRun: @unchecked Sendable {
  // Sendable: `queue` and `next` are accessed under `monitor` only, or by one thread. `report` is called under it.
  private let monitor = ConditionLock()
  private let builder: LibraryBuilder
  private let sources: [SourceScan.Source]
  private let taken: Set<ImageID>
  private let pool: WorkPool
  private let report: (SourceScan.Source, LibraryBuilder.Outcome) -> Void
  private let journal: ShardReport?
  /// The sources of the present pass.
  private var queue: [SourceScan.Source] = []
  private var next = 0

  /// - Parameters:
  ///   - taken: the ids of sources that are not built in this run but belong to the library.
  ///   - memoryLimit: the maximum bytes of all images in work together.
  ///   - journal: receives the outcomes, too, and knows which sources may have killed earlier builders.
  ///   - report: called once for each image or page, never concurrently.
  package init(
    _ builder: LibraryBuilder, _ sources: [SourceScan.Source], besides taken: [SourceScan.Source] = [],
    memoryLimit: Int, journal: ShardReport? = nil,
    report: @escaping (SourceScan.Source, LibraryBuilder.Outcome) -> Void
  ) {
    // libvips starts while the process has one thread; the threads of a progress display and of this run start later.
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

  /// Returns when every image is built or has failed, or when the build is cancelled.
  package func run() {
    if let journal { return run(journal) }
    guard let gone = builder.gone, !builder.force else { return run(sources) }
    // Sources with an archive come first: if some have changed, others may have their former content.
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
    // A postponed source may have the path of its temporary copy, which no longer exists; its id finds the original.
    let again = Set(changed.map(\.id))
    run(others + sources.filter { again.contains($0.id) })
  }

  /// Runs sources that may have killed earlier builders last, and one at a time.
  private func run(_ journal: ShardReport) {
    let last = ShardReport.maxStarts - 1
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

  /// - Parameter whole: the source that is the image, or contains it as a page.
  private func report(
    _ image: SourceScan.Source, _ outcome: LibraryBuilder.Outcome, of whole: SourceScan.Source
  ) {
    monitor.withLock {
      // A cancelled image has no outcome yet.
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
        // The start is recorded after the copy: a builder killed while it waits for a store was not killed by the
        // source.
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
    // Images that others cannot find yet are not finished, for no reason in the source.
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

  /// Returns the next sources in the queue, of which a thread may get one.
  private func upcoming() -> ArraySlice<SourceScan.Source> {
    monitor.withLock { queue[next...].prefix(SandboxedPictureBuilder.maxPictures - 1) }
  }
}

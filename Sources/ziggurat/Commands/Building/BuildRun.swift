import Foundation
import PyramidBuilding
import Synchronization
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratImageLibrary

/// One scan of the sources and the build of its results; with `watch`, a sequence of them.
struct BuildRun {
  /// Whether the disk is full, so that no more images are started in this round.
  static let isDiskFull = Atomic<Bool>(false)

  var builder: LibraryBuilder
  let library: String
  /// Whether the library is a private space, which is not in the catalog.
  let isPrivate: Bool
  /// Whether the library is in an object store, which has an index instead of a catalog.
  var isElsewhere = false
  /// Whether `library` is a folder whose images may be listed publicly.
  var hasCatalog: Bool { !isPrivate && !isElsewhere }
  let operands: [String]
  let asBooks: Bool
  /// Whether links that lead out of a source folder are followed.
  var followsLinks = false
  let prunes: PruneMode
  /// Seconds for which the trash keeps pruned archives; nil for ever.
  var keepsDeleted: Int?
  /// The file for Prometheus that describes the last build.
  var metricsFile: String?
  /// Whether the build ends with the server that shows its results.
  var isOfServer = false
  /// The prefix of ids.
  var prefix: ImageID?
  /// Whether images of other sources are replaced.
  var takesOwnership = false
  /// Whether failures of earlier builds are only counted.
  var ignoresKnownFailures = false
  /// The plan that is built instead of the operands.
  var planned: PlannedBuild.Opened?
  /// The shard of the plan, if only one is built. Other processes build the others into the same library, and no shard
  /// writes the catalog.
  var part: WorkShard? { planned?.part }
  var libraryOrigins: LibraryOrigins?
  var hasReportedOrigins = false
  var reportedRefusal: LibraryPruning.Rejection?
  /// Sources without images that were reported; a source that has images again is removed from the set.
  var reportedEmpty: Set<SourceRoot> = []
  /// Empty folders below sources that were looked up; a folder that has files again is removed from the set.
  var reportedEmptyFolders: Set<String> = []
  var reportedSpared: LibraryPruning.Spared?
  let memoryLimit: Int
  let verbosity: Verbosity
  let asJSON: Bool
  let watches: Bool
  private(set) var changes = SourceChanges()
  private var met = SeenImages()
  private var folders: [String] = []
  /// Failures that were reported, once and not in every scan.
  private var reportedFailures: Set<String> = []
  var reportedBooks: Set<String> = []
  /// The ids of images that were moved or removed in this round.
  var vacated: Set<ImageID> = []
  /// Recently pruned images with the time: gradual removals are judged as if they happened at once.
  var pruned: [(instant: ContinuousClock.Instant, count: Int)] = []

  init(
    builder: LibraryBuilder, library: String, isPrivate: Bool, operands: [String], asBooks: Bool,
    prunes: PruneMode,
    watches: Bool, memoryLimit: Int, verbosity: Verbosity, asJSON: Bool
  ) {
    self.builder = builder
    self.library = library
    self.isPrivate = isPrivate
    self.operands = operands
    self.asBooks = asBooks
    self.prunes = prunes
    self.watches = watches
    self.memoryLimit = memoryLimit
    self.verbosity = verbosity
    self.asJSON = asJSON
  }

  /// - Parameter isFirst: whether ignored files are reported, if they are to be.
  private func scanned(isFirst: Bool) -> SourceScan {
    if let planned { return planned.plan.scan }
    let isReported = isFirst && verbosity > .failures && (verbosity == .everything || builder.isDryRun)
    let isListed = isFirst && asJSON
    let (options, password) = (builder.options, builder.pdfPassword)
    return SourceScan(
      operands, library: library, asBooks: asBooks, prefix: prefix, followsLinks: followsLinks,
      remote: builder.remote, mayBeMissing: prunes == .all,
      pageCount: { try? SourceInspection(path: $0, options: options, pdfPassword: password).pages },
      isCancelled: { SignalHandler.isAsked },
      onPassedOver: { path, reason in
        if isReported { Output.note("passed over: \(Output.oneLine(path)) is \(reason)") }
        if isListed {
          Output.json(["source": .text(path), "status": "passed over", "reason": .text("is \(reason)")])
        }
      })
  }

  /// Makes other builds of the library wait until this round ends; waits for theirs.
  private func lock() -> BuildLock? {
    guard hasCatalog, !builder.isDryRun else { return nil }
    return BuildLock(
      library: library, isShared: part != nil,
      isWaiting: {
        if verbosity > .failures {
          Output.note("another build of \(Output.oneLine(library)) is running; waiting for its end")
        }
      }, isCancelled: { SignalHandler.isAsked })
  }

  /// Builds all images of the operands.
  mutating func run() -> ExitCode {
    let lock = lock()
    defer { withExtendedLifetime(lock) {} }
    let scan = scanned(isFirst: true)
    let sources = builder.rebuildList?.sources(among: scan.sources)
    return build(sources ?? (part.map(scan.part) ?? scan).sources, of: scan, isFirst: true)
  }

  /// Builds added and changed images until the user asks to stop.
  mutating func watch() -> ExitCode {
    // `--force` has had its effect in the first round; from now on only changes are built.
    builder.force = false
    takesOwnership = false
    let events = FileSystemEvents(alsoAttributes: true)
    let deaf = folders.count { events.listen(to: $0) == nil }
    if deaf > 0 {
      Output.note(
        "\(Output.count(deaf, "folder")) cannot be watched (see fs.inotify.max_user_watches); "
          + "all are read again once a minute anyhow")
    }
    if verbosity >= .changes, !isOfServer {
      Output.note("watching \(Output.count(folders.count, "folder")); Ctrl-C ends it")
    }
    // No watch existed for changes during the first build, so that the first scan is immediate.
    var isDue = true
    var idle = 0
    while !SignalHandler.isAsked {
      let something = events.wait(milliseconds: isDue ? 0 : 1000)
      idle += 1
      // Without events, as on network drives, one scan a minute.
      guard something || isDue || changes.isUnsettled || idle >= 60 else { continue }
      idle = 0
      // A burst of events leads to one scan, and two scans are at least a second apart.
      if something {
        usleep(1_000_000)
        _ = events.take()
      }
      let known = Set(folders)
      let lock = lock()
      defer { withExtendedLifetime(lock) {} }
      let scan = scanned(isFirst: false)
      for folder in scan.folders { _ = events.listen(to: folder) }
      // Changes in a new folder before its watch existed.
      isDue = !known.isSuperset(of: scan.folders)
      if build(changes.settled(of: scan.sources), of: scan, isFirst: false) == .interrupted { break }
    }
    if !isOfServer { Output.error("no longer watching; what is finished stays") }
    return .interrupted
  }

  private func announce(_ tally: inout BuildSummary) {
    guard !builder.isDryRun else { return }
    do throws(StorageError) { try builder.store.announce() } catch {
      tally.add(BuildError(library, error))
    }
  }

  private mutating func build(
    _ sources: [SourceScan.Source], of scan: SourceScan, isFirst: Bool
  ) -> ExitCode {
    let start = ContinuousClock.now
    let (code, tally) = run(sources, of: scan, isFirst: isFirst)
    if let metricsFile, isFirst || !tally.isEmpty {
      do throws(StorageError) {
        try BuildMetrics(tally, code, seconds: (.now - start) / .seconds(1)).write(to: metricsFile)
      } catch { Output.error(error.description) }
    }
    return code
  }

  private mutating func run(
    _ sources: [SourceScan.Source], of scan: SourceScan, isFirst: Bool
  ) -> (ExitCode, BuildSummary) {
    folders = scan.folders
    changes.remember(sources)
    vacated = []
    Self.isDiskFull.store(false, ordering: .relaxed)
    var tally = BuildSummary(
      verbosity, asJSON: asJSON, total: sources.count, builder.options,
      isDryRun: builder.isDryRun, ignoresKnownFailures: ignoresKnownFailures)
    // The first shard of a plan reports them.
    let failures = (part?.index ?? 0) == 0 ? scan.failures : []
    for failure in failures where isFirst || !reportedFailures.contains(failure.description) {
      tally.add(failure)
    }
    reportedFailures = Set(scan.failures.map(\.description))
    let wholes = Dictionary(sources.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    var again: Set<SourceScan.Source> = []
    var early: Set<SourceScan.Source> = []
    // The closure is kept by the run, so that it must not capture self.
    let (changes, watches) = (self.changes, self.watches)
    var met = self.met
    let growing = GrowingSources()
    builder.isGrowing = nil
    if watches {
      builder.isGrowing = { [changes] path in
        guard let source = wholes[path], changes.isFresh(source) else { return false }
        growing.insert(source)
        return true
      }
    }
    var vacated: Set<ImageID> = []
    var lacksInodes = false
    met.forget(sources)
    // On a full disk, this makes room for the catalog. If it fails, pruning reports that.
    if scan.failures.isEmpty { try? purgeTrash() }
    builder.gone = gone(scan)
    do throws(StorageError) { builder.ownership = try ownership(of: sources, among: scan) } catch {
      tally.add(BuildError(library, error))
      tally.finish(nil)
      return (tally.exitCode, tally)
    }
    let knownFailures = knownFailures()
    builder.failures = knownFailures
    var claims = EarlyClaims(claimsEarly ? libraryOrigins : nil, places(of: scan))
    var rebuilt: [ImageID] = []
    let run = LibraryRun(
      builder, sources, besides: scan.sources, memoryLimit: memoryLimit, journal: planned?.journal
    ) {
      image, outcome in
      let source = wholes[image.path]!
      met.add(image, outcome, of: source)
      claims.add(image, outcome)
      knownFailures?.add(image, outcome)
      if case .moved(let former) = outcome { vacated.insert(former) }
      if case .withdrawn = outcome { vacated.insert(image.id) }
      switch outcome {
      case .built, .withdrawn: rebuilt.append(image.id)
      default: break
      }
      guard case .failed(let failure) = outcome else { return tally.add(image, outcome, of: source) }
      let wasFull = Self.isDiskFull.load(ordering: .relaxed)
      if failure.hasNoInodes { lacksInodes = true }
      if failure.kind == .diskFull { Self.isDiskFull.store(true, ordering: .relaxed) }
      if wasFull, failure.kind == .diskFull || failure.kind == .cancelled {
        again.insert(source)
        return tally.postpone()
      }
      if watches, changes.isFresh(source) || growing.contains(source) {
        early.insert(source)
        return tally.postpone()
      }
      if failure.isTemporary { again.insert(source) }
      tally.add(image, outcome, of: source)
    }
    tally.progress?.start { run.progress }
    run.run()
    tally.progress?.end()
    announce(&tally)
    claim(met.takeClaims(), of: scan)
    keep(knownFailures)
    self.met = met
    for source in again { self.changes.forget(source) }
    for source in early { self.changes.postpone(source) }
    self.vacated = vacated
    if SignalHandler.isAsked {
      if isFirst { Output.error("interrupted; what is finished stays, the rest left nothing") }
      return (.interrupted, tally)
    }
    if Self.isDiskFull.load(ordering: .relaxed), !SignalHandler.isAsked {
      // The first one was reported by its own name.
      if again.count > 1 {
        let reason = lacksInodes ? "the file system has no inodes left" : "the disk is full"
        Output.error("\(reason): \(Output.count(again.count, "source")) left for another time")
      }
      tally.finish(nil)
      return (.temporary, tally)
    }
    if asBooks {
      let part = part.map(scan.part) ?? scan
      removeReplaced(part, met, &tally)
      describeBooks(part, &tally)
    }
    claimBooks()
    trashRest(&tally)
    prune(scan, met, &tally, isFirst)
    if !builder.isDryRun { EmptyFolders.remove(after: self.vacated, in: builder.store) }
    if !builder.isDryRun, hasCatalog, part == nil, isFirst || !tally.isEmpty {
      if builder.rebuildList != nil {
        CatalogUpdate.run(library, of: rebuilt)
      } else {
        CatalogUpdate.run(library)
      }
    }
    save(&tally)
    if isFirst || !tally.isEmpty { tally.finish(isFirst ? scan : nil) }
    return (tally.exitCode, tally)
  }
}

/// The sources that were found while they might still have been written.
private final class GrowingSources: Sendable {
  private let sources = Mutex<Set<SourceScan.Source>>([])

  func insert(_ source: SourceScan.Source) { sources.withLock { _ = $0.insert(source) } }

  func contains(_ source: SourceScan.Source) -> Bool { sources.withLock { $0.contains(source) } }
}

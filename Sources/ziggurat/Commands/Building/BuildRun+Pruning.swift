import Foundation
import PyramidBuilding
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratText

/// Claims of the images that a run has built so far. If the run is killed, they still have their owner.
struct EarlyClaims {
  private let origins: LibraryOrigins?
  private let places: [SourceRoot: SourcePlace]
  private var images: [ImageID: SourceRoot] = [:]
  private var last = ContinuousClock.now

  private static let interval = Duration.seconds(2)

  /// - Parameter origins: nil if nothing is claimed before the end of the run.
  init(_ origins: LibraryOrigins?, _ places: [SourceRoot: SourcePlace]) {
    self.origins = origins
    self.places = places
  }

  mutating func add(_ image: SourceScan.Source, _ outcome: LibraryBuilder.Outcome) {
    guard let origins, let root = image.root else { return }
    switch outcome {
    case .built, .metadataUpdated, .moved: images[image.id] = root
    case .unchanged, .outdated, .wouldBuild, .wouldMove, .wouldUpdateMetadata, .failed, .refused, .withdrawn,
      .wouldWithdraw:
      break
    }
    guard !images.isEmpty, .now - last > Self.interval else { return }
    // The end of the run claims them again and reports an error.
    if (try? origins.remember(places)) != nil, (try? origins.claim(images)) != nil { images = [:] }
    last = .now
  }
}

extension BuildRun {
  /// Whether images are claimed during the run.
  var claimsEarly: Bool { hasCatalog && part == nil && !builder.isDryRun }

  func places(of scan: SourceScan) -> [SourceRoot: SourcePlace] {
    Dictionary(scan.roots.map { ($0.root, $0.place) }, uniquingKeysWith: { $1 })
  }

  /// Returns the owners of the images that the sources have in the library.
  mutating func ownership(
    of sources: [SourceScan.Source], among scan: SourceScan
  ) throws(StorageError) -> ImageOwnership? {
    guard builder.rebuildList == nil, !sources.isEmpty || !scan.books.isEmpty else { return nil }
    let origins: any OriginStore
    if hasCatalog, builder.isDryRun || part != nil, !Catalog.exists(in: library) {
      origins = LibraryOrigins(library: library, catalog: try Catalog(inMemoryOf: library))
    } else {
      origins = try self.origins()
    }
    let builder = builder
    return try ImageOwnership(
      of: sources, among: scan.sources, in: builder.store, origins: origins, takesAll: takesOwnership,
      digest: { builder.contentDigest(of: $0) })
  }

  /// Returns the failures of earlier builds; nil if they are not recorded.
  mutating func knownFailures() -> KnownFailures? {
    guard hasCatalog, part == nil, builder.rebuildList == nil,
      !builder.isDryRun || Catalog.exists(in: library),
      let catalog = (try? origins() as? LibraryOrigins)?.catalog
    else { return nil }
    return KnownFailures(
      (try? catalog.failures()) ?? [], builder: KnownFailures.builder(builder, memoryLimit: memoryLimit))
  }

  /// Records failures for later builds.
  mutating func keep(_ failures: KnownFailures?) {
    guard let failures, !builder.isDryRun, let catalog = (try? origins() as? LibraryOrigins)?.catalog else {
      return
    }
    let (changed, removed) = failures.takeChanges()
    do throws(StorageError) { try catalog.update(failures: changed, removing: removed) } catch {
      Output.note("failures cannot be recorded: \(error.reason)")
    }
  }

  /// Records the sources of the images that are now in the library.
  mutating func claim(_ images: [ImageID: SourceRoot], of scan: SourceScan) {
    // For a shard, `reindex` does it from the journals, because a catalog has one writer.
    guard !builder.isDryRun, part == nil || isElsewhere, !images.isEmpty else { return }
    do throws(StorageError) {
      let origins = try origins()
      try origins.claim(images)
      try (origins as? LibraryOrigins)?.remember(places(of: scan))
    } catch {
      guard !hasReportedOrigins else { return }
      hasReportedOrigins = true
      Output.note(
        "the sources of the images cannot be recorded: \(error.reason); --prune spares them")
    }
  }

  /// Records which sources own the books that this run built.
  mutating func claimBooks() {
    guard !builder.isDryRun, part == nil, let books = builder.ownership?.takeClaimedBooks(), !books.isEmpty,
      let origins = (try? origins()) as? LibraryOrigins
    else { return }
    do throws(StorageError) { try origins.claim(books: books) } catch {
      Output.note("the sources of the books cannot be recorded: \(error.reason)")
    }
  }

  /// Moves the rest of other sources' images that this run replaced to the trash.
  mutating func trashRest(_ tally: inout BuildSummary) {
    guard !builder.isDryRun, let others = builder.ownership?.takeReplaced() else { return }
    for (id, record) in others {
      do throws(StorageError) { try builder.store.trashRest(ofReplaced: id, record) } catch {
        tally.add(failure(error))
      }
    }
  }

  mutating func prune(_ scan: SourceScan, _ met: SeenImages, _ tally: inout BuildSummary, _ isFirst: Bool) {
    // A folder that could not be read hides its images, whose archives must not be removed for that reason.
    if prunes == .nothing || !scan.failures.isEmpty {
      reportEmptySources(scan, &tally)
      reportEmptyFolders(scan, met, &tally)
    }
    guard prunes != .nothing else { return }
    guard scan.failures.isEmpty else {
      guard isFirst else { return }
      if !reportMissing(scan) { Output.note("nothing is pruned, since not every source could be read") }
      return
    }
    do throws(StorageError) {
      // A dry run creates no library.
      if builder.isDryRun || part != nil, hasCatalog, !Catalog.exists(in: library) { return }
      pruned.removeAll { ContinuousClock.now - $0.instant > .seconds(24 * 3600) }
      var pruning = try LibraryPruning(
        of: scan, keeping: met, in: builder.store, origins: try origins(),
        sparing: changes.unsettledSizes, gone: pruned.reduce(0) { $0 + $1.count },
        isCareful: prunes == .careful)
      if prunes == .careful, let refusal = pruning.refusal {
        // Once, not in every scan.
        guard refusal != reportedRefusal else { return }
        reportedRefusal = refusal
        tally.addSpared(pruning.ids, BuildError(library, Self.description(refusal, pruning.ids.count)))
        return
      }
      reportedRefusal = nil
      if let part { pruning = pruning.part(part, of: scan) }
      if let spared = pruning.spared, spared != reportedSpared {
        tally.addSpared(spared.ids, BuildError(library, Self.description(spared)))
      }
      reportedSpared = pruning.spared
      guard !builder.isDryRun else { return tally.addPruned(pruning.ids, isDryRun: true) }
      let (gone, errors) = try pruning.run(in: builder.store)
      vacated.formUnion(gone)
      if !gone.isEmpty { pruned.append((.now, gone.count)) }
      tally.addPruned(gone, isDryRun: false)
      for error in errors { tally.add(failure(error)) }
      try purgeTrash()
    } catch { tally.add(failure(error)) }
  }

  /// Removes permanently what has been in the trash for long enough.
  func purgeTrash() throws(StorageError) {
    guard let keepsDeleted, prunes != .nothing, !builder.isDryRun else { return }
    try builder.store.purgeTrash(until: Int(time(nil)) - keepsDeleted)
  }

  /// Reports folders without images from which the library has images. A nightly build must not succeed if a disk is
  /// not mounted.
  private mutating func reportEmptySources(_ scan: SourceScan, _ tally: inout BuildSummary) {
    let empty = scan.roots.filter { $0.isEmpty && !$0.isMissing }
    guard builder.rebuildList == nil, !hasCatalog || Catalog.exists(in: library) else { return }
    for source in empty where reportedEmpty.insert(source.root).inserted {
      guard let images = try? origins().images(from: [source.root]), !images.isEmpty else { continue }
      tally.add(
        BuildError(
          source.text,
          "contains no images although \(Self.built(images.count)) built from it: is its disk mounted? "
            + "(--prune=all moves them to the trash)"))
    }
    reportedEmpty.formIntersection(empty.map(\.root))
  }

  /// Reports empty folders below sources from which the library has images. Each may be the mount point of a disk that
  /// is not mounted.
  private mutating func reportEmptyFolders(
    _ scan: SourceScan, _ met: SeenImages, _ tally: inout BuildSummary
  ) {
    guard builder.rebuildList == nil, !hasCatalog || Catalog.exists(in: library) else { return }
    let new = scan.emptyFolders.filter { !reportedEmptyFolders.contains($0.path) }
    reportedEmptyFolders = Set(scan.emptyFolders.map(\.path))
    guard !new.isEmpty,
      let found = try? LibraryPruning.images(
        ofEmptyFolders: new, of: scan, keeping: met, in: builder.store, origins: origins())
    else { return }
    let (built, others) = (Self.built(found.ids.count), found.folders.count - 1)
    tally.add(
      BuildError(
        found.folders[0],
        (others > 0
          ? "is empty, like \(Output.count(others, "other folder")), although \(built) built from them: "
            + "are their disks mounted?" : "is empty although \(built) built from it: is its disk mounted?")
          + " (--prune=all moves them to the trash)"))
  }

  private static func built(_ count: Int) -> String {
    "\(Output.count(count, "image")) \(count == 1 ? "was" : "were")"
  }

  /// Reports how the images of missing sources can be pruned.
  /// - Returns: whether there are any.
  private mutating func reportMissing(_ scan: SourceScan) -> Bool {
    let missing = scan.roots.filter(\.isMissing)
    guard !missing.isEmpty, !hasCatalog || Catalog.exists(in: library),
      let images = try? origins().images(from: Set(missing.map(\.root))), !images.isEmpty
    else { return false }
    let names = missing.map { Output.oneLine($0.text) }.joined(separator: ", ")
    Output.note(
      "nothing is pruned, since \(names) does not exist; if it is gone for good, --prune=all moves the "
        + "\(Output.count(images.count, "image")) that came from there to the trash")
    return true
  }

  /// Removes pages of books under their former numbers, which they had before their ids followed the files' names.
  mutating func removeReplaced(_ scan: SourceScan, _ met: SeenImages, _ tally: inout BuildSummary) {
    let replaced = LegacyPageIDs(of: scan, keeping: met, in: builder.store)
    guard !builder.isDryRun else { return tally.addPruned(replaced.ids, isDryRun: true) }
    do throws(StorageError) {
      let (gone, errors) = try replaced.run(in: builder.store)
      vacated.formUnion(gone)
      tally.addPruned(gone, isDryRun: false)
      for error in errors { tally.add(failure(error)) }
    } catch { tally.add(failure(error)) }
  }

  /// Copies the descriptions of books beside their pages into the library.
  mutating func describeBooks(_ scan: SourceScan, _ tally: inout BuildSummary) {
    guard !builder.isDryRun, builder.rebuildList == nil else { return }
    if !hasCatalog {
      // Once, not in every scan.
      if reportedBooks.isEmpty, !scan.books.isEmpty {
        reportedBooks = ["a store without descriptions"]
        let place = isPrivate ? "a private space" : "an object store"
        Output.note("what describes books as wholes is not kept: in \(place) a book is its pages alone")
      }
      return
    }
    let (failures, doubts) = BookFile.take(
      scan, into: builder.store, ownership: builder.ownership, meant: nearest)
    for failure in failures where !reportedBooks.contains(failure.description) { tally.add(failure) }
    for doubt in doubts where !reportedBooks.contains(doubt.description) {
      Output.note(Output.oneLine(doubt.description))
    }
    reportedBooks = Set((failures + doubts).map(\.description))
  }

  /// Returns the missing images that new sources may be under another name. If a folder cannot be read, or is not
  /// mounted, no image counts as missing.
  mutating func gone(_ scan: SourceScan) -> MissingImages? {
    guard hasCatalog, part == nil, builder.rebuildList == nil, scan.failures.isEmpty, !SignalHandler.isAsked,
      !scan.roots.contains(where: \.isEmpty), !builder.isDryRun || Catalog.exists(in: library),
      let origins = (try? origins()) as? LibraryOrigins
    else { return nil }
    let roots = Set(scan.roots.map(\.root))
    return MissingImages(
      of: scan, in: builder.store, among: { (try? origins.images(from: roots)) ?? [] },
      owners: { (try? origins.owners(of: $0)) ?? [:] },
      announce: { (id, other) throws(StorageError) in try origins.claim(id, as: other) })
  }

  private func failure(_ error: StorageError) -> BuildError {
    BuildError(library, error)
  }

  private static func description(_ refusal: LibraryPruning.Rejection, _ count: Int) -> String {
    switch refusal {
    case .emptySource(let source):
      "nothing is pruned, since \(source) holds no image (is it mounted?); "
        + "\(Output.count(count, "image")) would go: --prune=all does it"
    case .manyOf(let all):
      "nothing is pruned, since \(count) of \(all) images would go; --prune=all does it"
    }
  }

  private static func description(_ spared: LibraryPruning.Spared) -> String {
    let others = spared.folders.count - 1
    return "\(Output.count(spared.ids.count, "image")) not pruned, since \(spared.folders[0]) "
      + (others > 0 ? "and \(Output.count(others, "other folder")) are" : "is")
      + " empty (is a disk not mounted?); --prune=all moves what came from there to the trash"
  }

  private mutating func origins() throws(StorageError) -> any OriginStore {
    if let space = builder.store as? any OriginStore { return space }
    if let known = libraryOrigins { return known }
    let catalog = try Catalog(library: library, isReadOnly: part != nil)
    let path = "\(library)/\(Catalog.fileName)"
    if catalog.replacesDamaged {
      Output.note(
        "\(path) was damaged and is made again: until their sources are built again, "
          + "--prune spares the images")
    }
    if part == nil, let reason = catalog.memoryReason {
      let isFile = access(path, F_OK) == 0 && access(path, W_OK) != 0
      // If the file can be read, it contains the sources of images.
      if prunes != .nothing, !catalog.hasOrigins {
        Output.note(
          "\(path) cannot be written: it is not known what came from these sources, "
            + "and nothing of before is pruned")
      } else if isFile || prunes != .nothing, !builder.isDryRun {
        Output.note("\(path) cannot be written (\(reason)): a later --prune spares what is built now")
      }
    }
    let origins = LibraryOrigins(library: library, catalog: catalog)
    libraryOrigins = origins
    return origins
  }
}

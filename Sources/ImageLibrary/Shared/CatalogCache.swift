import Synchronization
import TileStorage
import ZigguratCatalog
import ZigguratConcurrency
import ZigguratFiles

/// The images of a shared catalog that were requested.
///
/// One thread looks up all waiting ids together, and reads the feed of changes twice a second. It does one after the
/// other, so that a row from before a change never hides that change. While the database is unreachable, cached
/// images are used for ten minutes, and the existence of all others is unknown.
final class CatalogCache: Sendable {
  /// Ids that are looked up together.
  private struct Batch {
    var ids: Set<ImageID> = []
    let lookup = Future<Void>()
  }

  private struct State {
    var cache: CatalogRowCache
    /// The batch that the thread looks up next, and the one that it is looking up.
    var next: Batch?
    var current: Batch?
    var count = 0
    /// The time of the last count; nil before the first.
    var counted: ContinuousClock.Instant?
    var isMiscounted = false
    var isCounting = false

    mutating func add(_ id: ImageID) {
      if next == nil { next = Batch() }
      next?.ids.insert(id)
    }
  }

  /// The state that only the lookup thread uses.
  private struct Listening {
    var place: Catalog.Place?
    var heard = ContinuousClock.now
    var next = ContinuousClock.now
  }

  private let catalog: Catalog
  private let source: any RemoteImageSource
  private let state: Mutex<State>
  private let listening = Mutex(Listening())
  private let wakeUps = CountingSemaphore()
  /// Whether the catalog was found to be filled.
  private let wasFilled = Atomic<Bool>(false)
  /// Closes archives that no longer belong to the library.
  private let close: @Sendable (_ isGone: (LibraryEntry) -> Bool) -> Void
  /// The time for which cached images are used while the database is unreachable.
  private let keeps: Duration

  /// The time between two reads of the feed, in seconds.
  private static let pause = 0.5
  /// The maximum number of ids that wait for a lookup.
  private static let maximum = 10_000

  init(
    _ catalog: Catalog, _ source: any RemoteImageSource, limit: Int = 40_000, keeps: Duration = .seconds(600),
    close: @escaping @Sendable (_ isGone: (LibraryEntry) -> Bool) -> Void
  ) {
    self.catalog = catalog
    self.source = source
    self.keeps = keeps
    self.close = close
    state = Mutex(State(cache: CatalogRowCache(limit: limit)))
  }

  /// Starts the thread, which runs as long as the cache is in use.
  func start() {
    StartedThread.needed { [weak self, wakeUps] in
      while true {
        wakeUps.wait(upTo: Self.pause)
        guard let self else { return }
        turn()
      }
    }
  }

  var figures: [SourceFigure] {
    let known = state.withLock { $0.cache.count }
    return source.figures + [
      SourceFigure(
        "known_images", "Images that the catalog was asked for and that are in memory.", known, isTotal: false
      ),
      SourceFigure(
        "catalog_reachable", "1 while the catalog's database answers, else 0.", catalog.isReachable ? 1 : 0,
        isTotal: false),
      SourceFigure(
        "catalog_writer", "1 at the server that writes the catalog, else 0.", catalog.isWriter ? 1 : 0,
        isTotal: false),
    ]
  }

  var outage: SourceOutage? { source.outage }

  /// The number of images at the last count.
  var count: Int { state.withLock { $0.count } }

  func update(
    isCancelled: () -> Bool, unreadable: (StorageError) -> Void
  ) throws(StorageError) -> Int {
    try source.update(catalog, isCancelled: isCancelled, unreadable: unreadable)
  }

  // MARK: Cached images

  /// - Parameter generation: the requested generation. If it does not exist, the current image is returned.
  func entry(_ id: UnsafeRawBufferPointer, generation: UInt64?) throws(StorageError) -> LibraryEntry? {
    try Self.checked(state.withLock { $0.cache.find(id, generation) })?.entry
  }

  /// Returns the same for a request that has waited for `lookup`, if that was necessary.
  func entry(_ id: ImageID, generation: UInt64?) throws(StorageError) -> LibraryEntry? {
    try Self.checked(arrived(id, generation))?.entry
  }

  private func arrived(_ id: ImageID, _ generation: UInt64?) -> CatalogRowCache.Finding {
    id.withBytes { id in state.withLock { $0.cache.find(id, generation, hasWaited: true) } }
  }

  private static func checked(
    _ finding: CatalogRowCache.Finding
  ) throws(StorageError) -> (known: CatalogRowCache.Known, entry: LibraryEntry)? {
    switch finding {
    case .known(let known, let entry): return (known, entry)
    case .notFound: return nil
    case .notAsked, .away:
      throw StorageError("find the image", "the catalog was not asked for it", kind: .unreachable)
    }
  }

  /// Starts a lookup of the images that are not in memory; nil if there is nothing to look up.
  /// - Parameter isNew: whether a lookup in progress is not sufficient.
  func lookup(of ids: [ImageID], generation: UInt64?, isNew: Bool = false) -> (any Pending)? {
    let lookup = state.withLock { state -> Future<Void>? in
      var lookup: Future<Void>?
      for id in ids {
        guard case .notAsked = id.withBytes({ state.cache.find($0, generation) }) else { continue }
        if let current = state.current, current.ids.contains(id), generation == nil, !isNew {
          lookup = lookup ?? current.lookup
          continue
        }
        guard state.next?.ids.count ?? 0 < Self.maximum else { continue }
        state.add(id)
        lookup = state.next?.lookup
      }
      return lookup
    }
    if lookup != nil { wakeUps.signal() }
    return lookup
  }

  /// Returns the current image from the database; nil if it does not exist. This blocks.
  func fresh(_ id: ImageID) throws(StorageError) -> CatalogRowCache.Known? {
    let start = ContinuousClock.now
    // Repeated if all images were removed from the cache in the meantime.
    for _ in 0..<4 {
      forget([id])
      lookup(of: [id], generation: nil, isNew: true)?.wait()
      let finding = arrived(id, nil)
      switch finding {
      case .known(let known, _): if known.asked >= start { return known }
      case .notFound, .away: return try Self.checked(finding)?.known
      case .notAsked: break
      }
    }
    return try Self.checked(.notAsked)?.known
  }

  /// Returns the catalog entries of a deletion's images, from their archives and the metadata of visitors.
  func listed(_ rows: [ArchiveRow], deletedBy deletion: String) throws(StorageError) -> [CatalogEntry] {
    let sidecars = try catalog.sidecars(of: rows.map(\.id), deletedBy: deletion)
    return try rows.map { (row) throws(StorageError) in try listed(row, sidecars[row.id]?.xmp) }
  }

  func listed(_ row: ArchiveRow, _ xmp: [UInt8]?) throws(StorageError) -> CatalogEntry {
    let entry = LibraryEntry(ofRow: source.image(row), xmp)
    let listed = entry.catalogEntry(try entry.openOnce())
    guard !listed.isWordless else {
      throw StorageError("list \(row.id)", "its metadata cannot be read at present", kind: .unreachable)
    }
    return listed
  }

  // MARK: Lookups

  /// Reads the feed, if that is due, and looks up one batch. Only the thread calls it.
  func turn() {
    let isListening = listening.withLock { listening in
      if listening.next <= .now { listen(&listening) }
      return listening.place != nil
    }
    let batch = state.withLock { state in
      state.current = state.next
      state.next = nil
      return state.current
    }
    guard let batch else { return }
    // A row that is read before the feed could stay outdated for ever.
    let answers = isListening ? answers(to: Array(batch.ids)) : nil
    let gone = state.withLock { state -> [LibraryEntry] in
      state.current = nil
      guard let answers else {
        state.cache.awayUntil = .now + .milliseconds(500)
        return []
      }
      return state.cache.take(answers.found, of: answers.ids, from: source)
    }
    if !gone.isEmpty { close { entry in gone.contains { $0 === entry } } }
    batch.lookup.land(())
  }

  private func listen(_ listening: inout Listening) {
    // After so long without the feed, cached images are no longer used, even if this process was only stopped.
    if listening.place != nil, listening.heard + keeps < .now {
      listening.place = nil
      forget(nil)
    }
    do throws(StorageError) {
      if let place = listening.place {
        let changes = try catalog.changes(behind: place)
        listening.place = changes.place
        forget(changes.images)
        lookUpAgain(changes.images ?? [])
      } else {
        listening.place = try catalog.place()
      }
      listening.heard = .now
      state.withLock { $0.cache.awayUntil = nil }
      recount()
    } catch {
      // Until the next read of the feed, which may take long.
      state.withLock { $0.cache.awayUntil = .now + .seconds(30) }
    }
    listening.next = .now + .seconds(Self.pause)
  }

  /// Looks up cached images at once after a change, because the database may be unreachable at the next request.
  private func lookUpAgain(_ ids: Set<ImageID>) {
    state.withLock { state in
      let known = ids.filter { state.cache.isKnown($0) }
      guard !known.isEmpty, known.count <= 1000 else { return }
      for id in known where state.next?.ids.count ?? 0 < Self.maximum { state.add(id) }
    }
  }

  /// Marks images as outdated, so that the next request looks them up again.
  /// - Parameter ids: the images; nil for all.
  func forget(_ ids: Set<ImageID>?) {
    if let ids, ids.isEmpty { return }
    state.withLock { state in
      state.isMiscounted = true
      guard let ids else { return state.cache.forgetAll() }
      for id in ids { state.cache.forget(id) }
    }
    if ids == nil { close { _ in true } }
  }

  /// Counts the images, only after changes and rarely. Counting very many takes a while, so another thread does it.
  private func recount() {
    let isDue = state.withLock { state in
      guard !state.isCounting else { return false }
      let isDue = state.counted.map { state.isMiscounted && $0 + .seconds(10) < .now } ?? true
      if isDue { (state.isCounting, state.isMiscounted) = (true, false) }
      return isDue
    }
    guard isDue else { return }
    let isStarted = StartedThread.detached { [weak self, catalog] in
      let count = try? catalog.count()
      self?.state.withLock { state in
        state.counted = .now
        state.isCounting = false
        if let count { state.count = count } else { state.isMiscounted = true }
      }
    }
    if !isStarted { state.withLock { ($0.isCounting, $0.isMiscounted) = (false, true) } }
  }

  /// Returns the rows of the ids that could be looked up; nil if the database is unreachable.
  private func answers(to ids: [ImageID]) -> (found: [ImageID: ArchiveRows], ids: Set<ImageID>)? {
    do throws(StorageError) {
      let found = try found(ids)
      // While the catalog is being filled, an image without a row may exist.
      return (found, try found.count == ids.count ? Set(ids) : isFilled() ? Set(ids) : Set(found.keys))
    } catch {
      if error.isTemporary { return nil }
      // An id that the database rejects must not prevent the lookup of the others.
      guard ids.count > 1 else { return ([:], []) }
      let halves = [ids[..<(ids.count / 2)], ids[(ids.count / 2)...]].map { answers(to: Array($0)) }
      guard let first = halves[0], let second = halves[1] else { return nil }
      return (first.found.merging(second.found) { one, _ in one }, first.ids.union(second.ids))
    }
  }

  private func isFilled() throws(StorageError) -> Bool {
    if !wasFilled.load(ordering: .relaxed), try catalog.isFilled() {
      wasFilled.store(true, ordering: .relaxed)
    }
    return wasFilled.load(ordering: .relaxed)
  }

  private func found(_ ids: [ImageID]) throws(StorageError) -> [ImageID: ArchiveRows] {
    var found: [ImageID: ArchiveRows] = [:]
    for start in stride(from: 0, to: ids.count, by: 1000) {
      let rows = try catalog.archives(of: Array(ids[start..<min(start + 1000, ids.count)]))
      found.merge(rows) { first, _ in first }
    }
    return found
  }
}

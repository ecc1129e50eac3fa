import Catalog
import Files
import Synchronization
import Threads
import TileStorage

/// Images that were asked for of a catalog which servers share, the least recently used forgotten first.
///
/// One thread asks, for all who wait together, and listens twice a second to what has changed: since it does the one after
/// the other, nothing that was read before a change is taken for what came after. While the database is away, what is
/// known is answered for ten minutes, and of nothing else it is said that it is not there.
final class KnownImages: Sendable {
  /// One image with its archives.
  private struct Known {
    struct Former {
      let generation: UInt64
      let entry: LibraryEntry
      let until: ContinuousClock.Instant
    }

    let id: ImageID
    let generation: UInt64
    let entry: LibraryEntry
    let former: [Former]
    let asked: ContinuousClock.Instant
  }

  private enum Finding {
    case known(LibraryEntry)
    case notThere
    case notAsked
    case away
  }

  private struct State {
    var known: LeastRecentlyUsed<UInt64, Known>
    var unknown = LeastRecentlyUsed<UInt64, (id: ImageID, until: ContinuousClock.Instant)>(limit: 20_000)
    /// That the thread is about to ask, and that it is asking.
    var next: ImageQuestion?
    var asking: ImageQuestion?
    /// Nobody is asked until then, since nobody answers.
    var awayUntil: ContinuousClock.Instant?
    var count = 0
    /// Nil before anything was counted.
    var counted: ContinuousClock.Instant?
    var isMiscounted = false
  }

  private let catalog: Catalog
  private let source: any RowSource
  private let state: Mutex<State>
  private let wakeUps = WakeUps()
  /// Told which images are no longer what they were; nil for all.
  private let changed: @Sendable (Set<ImageID>?) -> Void
  /// How long what is known counts without the database.
  private let keeps: Duration
  /// What the thread alone has.
  private struct Listening {
    var place: Catalog.Place?
    var heard = ContinuousClock.now
    var next = ContinuousClock.now
  }
  private let listening = Mutex(Listening())

  /// Seconds between two looks at what has changed.
  private static let pause = 0.5
  /// How long it is remembered that there is no image of an id, or no such generation.
  private static let rest = Duration.seconds(2)
  /// Ids that wait to be asked for.
  private static let most = 10_000

  init(
    _ catalog: Catalog, _ source: any RowSource, limit: Int = 40_000, keeps: Duration = .seconds(600),
    changed: @escaping @Sendable (Set<ImageID>?) -> Void
  ) {
    (self.catalog, self.source, self.keeps, self.changed) = (catalog, source, keeps, changed)
    state = Mutex(State(known: LeastRecentlyUsed(limit: limit)))
  }

  /// Begins to listen, as long as anybody has it.
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
    let known = state.withLock { $0.known.count }
    return source.figures + [
      SourceFigure(
        "known_images", "Images that the catalog was asked for and that are in memory.", known, isTotal: false
      )
    ]
  }

  /// How many images there are, as far as was counted.
  var count: Int { state.withLock { $0.count } }

  func update(isCancelled: () -> Bool) throws(StorageError) -> Int {
    try source.update(catalog, isCancelled: isCancelled)
  }

  // MARK: Answering

  /// - Parameter generation: one that somebody names; where there is none such, the image as it is now is meant.
  func entry(_ id: UnsafeRawBufferPointer, generation: UInt64?) throws(StorageError) -> LibraryEntry? {
    try told(state.withLock { Self.find(id, generation, &$0) })
  }

  func entry(_ id: ImageID, generation: UInt64?) throws(StorageError) -> LibraryEntry? {
    try told(id.withBytes { id in state.withLock { Self.find(id, generation, &$0) } })
  }

  private func told(_ finding: Finding) throws(StorageError) -> LibraryEntry? {
    switch finding {
    case .known(let entry): return entry
    case .notThere: return nil
    case .notAsked, .away:
      throw StorageError("find the image", "the catalog was not asked for it", kind: .unreachable)
    }
  }

  /// Has what is not known of these asked for; nil where there is nothing to ask.
  func arrival(of ids: [ImageID], generation: UInt64?) -> TileArrival? {
    let question = state.withLock { state -> ImageQuestion? in
      var question: ImageQuestion?
      for id in ids {
        guard case .notAsked = id.withBytes({ Self.find($0, generation, &state) }) else { continue }
        if let asking = state.asking, asking.ids.contains(id), generation == nil {
          question = question ?? asking
          continue
        }
        let next = state.next ?? ImageQuestion()
        guard next.ids.count < Self.most else { continue }
        next.add(id)
        state.next = next
        question = next
      }
      return question
    }
    guard let question else { return nil }
    wakeUps.signal()
    return TileArrival { question.observe($0) }
  }

  private static func find(
    _ id: UnsafeRawBufferPointer, _ generation: UInt64?, _ state: inout State
  ) -> Finding {
    let key = Digest.of(id)
    // Of two ids with one digest both are right, and one is asked for again and again.
    if let known = state.known.value(for: key), known.id.text.utf8.elementsEqual(id) {
      guard let generation, generation != known.generation else { return .known(known.entry) }
      if let former = known.former.first(where: { $0.generation == generation }), former.until > .now {
        return .known(former.entry)
      }
      let isFresh = known.asked + rest > .now || state.awayUntil.map { $0 > .now } ?? false
      return isFresh ? .known(known.entry) : .notAsked
    }
    if let none = state.unknown.value(for: key), none.id.text.utf8.elementsEqual(id), none.until > .now {
      return .notThere
    }
    return state.awayUntil.map { $0 > .now } ?? false ? .away : .notAsked
  }

  // MARK: Asking

  /// One look at what has changed, where it is time, and one question. For the thread alone.
  func turn() {
    let isListening = listening.withLock { listening in
      if listening.next <= .now { listen(&listening) }
      return listening.place != nil
    }
    guard
      let question = state.withLock({ state -> ImageQuestion? in
        (state.asking, state.next) = (state.next, nil)
        return state.asking
      })
    else { return }
    // What is read before the feed was heard at all could be old for ever.
    let found = isListening ? try? found(Array(question.ids)) : nil
    state.withLock { state in
      if let found { take(found, question.ids, &state) } else { state.awayUntil = .now + .milliseconds(500) }
      state.asking = nil
    }
    question.isAnswered()
  }

  private func listen(_ listening: inout Listening) {
    do throws(StorageError) {
      if let place = listening.place {
        let changes = try catalog.changes(behind: place)
        listening.place = changes.place
        forget(changes.images)
      } else {
        listening.place = try catalog.place()
      }
      listening.heard = .now
      state.withLock { $0.awayUntil = nil }
      try recount()
    } catch {
      state.withLock { $0.awayUntil = .now + .milliseconds(500) }
      if listening.place != nil, listening.heard + keeps < .now {
        listening.place = nil
        forget(nil)
      }
    }
    listening.next = .now + .seconds(Self.pause)
  }

  /// - Parameter ids: nil for all.
  private func forget(_ ids: Set<ImageID>?) {
    if let ids, ids.isEmpty { return }
    state.withLock { state in
      state.isMiscounted = true
      guard let ids else {
        state.known.removeAll()
        state.unknown.removeAll()
        return
      }
      for id in ids {
        let key = id.withBytes(Digest.of)
        state.known.remove(key)
        state.unknown.remove(key)
      }
    }
    changed(ids)
  }

  /// Only when something has changed, and seldom: of very many it takes a while.
  private func recount() throws(StorageError) {
    let isDue = state.withLock { state in
      guard let counted = state.counted else { return true }
      return state.isMiscounted && counted + .seconds(10) < .now
    }
    guard isDue else { return }
    let count = try catalog.count()
    state.withLock { ($0.count, $0.counted, $0.isMiscounted) = (count, .now, false) }
  }

  private func found(_ ids: [ImageID]) throws(StorageError) -> [ImageID: ArchiveRows] {
    var found: [ImageID: ArchiveRows] = [:]
    for start in stride(from: 0, to: ids.count, by: 1000) {
      let rows = try catalog.archives(of: Array(ids[start..<min(start + 1000, ids.count)]))
      found.merge(rows) { first, _ in first }
    }
    return found
  }

  private func take(_ found: [ImageID: ArchiveRows], _ ids: Set<ImageID>, _ state: inout State) {
    let now = ContinuousClock.now
    for id in ids {
      let key = id.withBytes(Digest.of)
      guard let rows = found[id], let current = rows.current else {
        state.unknown.insert((id, now + Self.rest), for: key, weight: 1)
        continue
      }
      // An archive that is the same stays open.
      let old = state.known.value(for: key).flatMap { $0.id == id ? $0 : nil }
      func entry(_ row: ArchiveRow) -> LibraryEntry {
        if let old {
          if old.generation == row.generation { return old.entry }
          if let former = old.former.first(where: { $0.generation == row.generation }) { return former.entry }
        }
        return LibraryEntry(ofRow: source.image(row))
      }
      let former = rows.former.map { former in
        Known.Former(
          generation: former.row.generation, entry: entry(former.row),
          until: now + .seconds(max(0, former.remains)))
      }
      let known = Known(
        id: id, generation: current.generation, entry: entry(current), former: former, asked: now)
      state.known.insert(known, for: key, weight: 1)
    }
  }
}

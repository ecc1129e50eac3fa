import TileStorage
import ZigguratCatalog
import ZigguratFiles

/// The rows of a shared catalog that are in memory. The least recently used are removed first.
struct CatalogRowCache {
  /// One image with its archives.
  struct Known {
    struct Former {
      let generation: UInt64
      let entry: LibraryEntry
      let until: ContinuousClock.Instant
    }

    let row: ArchiveRow
    let entry: LibraryEntry
    /// The metadata that visitors wrote; nil if there is none.
    let sidecar: ArchiveRows.Sidecar?
    let former: [Former]
    let asked: ContinuousClock.Instant
    /// The time since which the row is known to be outdated. Its unchanged archives are not opened again after a
    /// lookup.
    var staleSince: ContinuousClock.Instant?

    var id: ImageID { row.id }
  }

  enum Finding {
    case known(Known, LibraryEntry)
    case notFound
    case notAsked
    /// The image is not known, and the database is unreachable.
    case away
  }

  private var known: LRUCache<UInt64, Known>
  private var unknown = LRUCache<UInt64, (id: ImageID, until: ContinuousClock.Instant)>(
    limit: 20_000)
  /// The time until which the database is not queried, because it is unreachable.
  var awayUntil: ContinuousClock.Instant?
  /// The time for which a missing image or generation is remembered.
  private static let rest = Duration.seconds(2)
  /// The time in which a request that waited for an image uses its row, even if the image has changed since.
  private static let grace = Duration.seconds(1)

  init(limit: Int) { known = LRUCache(limit: limit) }

  var count: Int { known.count }

  private var isAway: Bool { awayUntil.map { $0 > .now } ?? false }

  /// - Parameters:
  ///   - id: the id in UTF-8.
  ///   - generation: the requested generation. If it does not exist, the current image is returned.
  ///   - hasWaited: whether the request has waited for a lookup, or found it done.
  mutating func find(
    _ id: UnsafeRawBufferPointer, _ generation: UInt64?, hasWaited: Bool = false
  ) -> Finding {
    let key = Digest.of(id)
    // Two ids with the same digest are both correct, but replace each other.
    if let known = known.value(for: key), known.id.text.utf8.elementsEqual(id),
      known.staleSince.map({ hasWaited && !isAway && $0 + Self.grace > .now }) ?? true
    {
      guard let generation, generation != known.row.generation else { return .known(known, known.entry) }
      if let former = known.former.first(where: { $0.generation == generation }), former.until > .now {
        return .known(known, former.entry)
      }
      return known.asked + Self.rest > .now || isAway ? .known(known, known.entry) : .notAsked
    }
    // While the database is unreachable, the existence of the image is unknown.
    if isAway { return .away }
    if let none = unknown.value(for: key), none.id.text.utf8.elementsEqual(id), none.until > .now {
      return .notFound
    }
    return .notAsked
  }

  /// Whether the image was looked up and is in memory, even if it has changed since then.
  mutating func isKnown(_ id: ImageID) -> Bool {
    known.value(for: id.withBytes(Digest.of)).map { $0.id == id } ?? false
  }

  mutating func forgetAll() {
    known.removeAll()
    unknown.removeAll()
  }

  mutating func forget(_ id: ImageID) {
    let key = id.withBytes(Digest.of)
    unknown.remove(key)
    guard var known = known.value(for: key), known.id == id, known.staleSince == nil else { return }
    known.staleSince = .now
    self.known.insert(known, for: key, weight: 1)
  }

  /// Stores the result of a lookup. Ids without rows do not exist.
  /// - Returns: entries that are no longer in use.
  mutating func take(
    _ found: [ImageID: ArchiveRows], of ids: Set<ImageID>, from source: any RemoteImageSource
  ) -> [LibraryEntry] {
    let now = ContinuousClock.now
    var gone: [LibraryEntry] = []
    for id in ids {
      let key = id.withBytes(Digest.of)
      let old = known.value(for: key).flatMap { $0.id == id ? $0 : nil }
      var left = old.map { [$0.entry] + $0.former.map(\.entry) } ?? []
      if let rows = found[id], let current = rows.current {
        let fresh = Self.known(rows, current, old, source, now)
        left.removeAll { entry in entry === fresh.entry || fresh.former.contains { $0.entry === entry } }
        known.insert(fresh, for: key, weight: 1)
        unknown.remove(key)
      } else {
        if old != nil { known.remove(key) }
        unknown.insert((id, now + Self.rest), for: key, weight: 1)
      }
      gone += left
    }
    return gone
  }

  private static func known(
    _ rows: ArchiveRows, _ current: ArchiveRow, _ old: Known?, _ source: any RemoteImageSource,
    _ now: ContinuousClock.Instant
  ) -> Known {
    func former(_ row: ArchiveRow) -> LibraryEntry {
      old?.former.first { $0.generation == row.generation }?.entry ?? LibraryEntry(ofRow: source.image(row))
    }
    let isSame = old.map { $0.row == current && $0.sidecar == rows.sidecar } ?? false
    return Known(
      row: current,
      entry: isSame ? old!.entry : LibraryEntry(ofRow: source.image(current), rows.sidecar?.xmp),
      sidecar: rows.sidecar,
      former: rows.former.map { one in
        Known.Former(
          generation: one.row.generation, entry: former(one.row), until: now + .seconds(max(0, one.remains)))
      }, asked: now)
  }
}

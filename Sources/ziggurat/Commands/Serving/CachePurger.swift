import Glibc
import Synchronization
import ZigguratCatalog
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratObjectStore
import ZigguratTileServing

/// Purges images that were removed from the library from the caches in front of the server.
///
/// Every server of a library does so when it notices a removal. The last one purges when no server answers with the
/// image any more.
final class CachePurger: Sendable {
  private let queues: [PurgeQueue]
  private let seed: SurrogateKey.Seed
  /// The state of the library at the last look.
  private struct Known {
    /// Empty without caches, because the table with which it shares memory would be copied at each change.
    var ids: [ImageID] = []
    /// The place in the feed of changes of a shared catalog up to which changes were read.
    var place: Catalog.Place?
    var readAt = ContinuousClock.now
  }
  private let known = Mutex(Known())
  /// Seconds that a cache keeps a response at most (`s-maxage`).
  private static let longest = 86_400
  /// The time for which the feed certainly keeps a change.
  private static let feedLifetime = Duration.seconds(3000)

  /// - Parameters:
  ///   - caches: the caches to purge.
  ///   - seed: the seed of the surrogate keys in responses.
  init(_ caches: [EdgeCache], _ seed: SurrogateKey.Seed, of library: Library) {
    self.seed = seed
    queues = caches.map { cache in
      PurgeQueue(cache.forget) { isReachable in
        Output.error(
          isReachable
            ? "\(cache) answers purge requests again" : "\(cache) cannot be purged; the server tries again")
      }
    }
    for queue in queues { queue.start() }
    look(at: library)
    guard !queues.isEmpty, !library.asksForImages else { return }
    // Images deleted while no server ran, or while the cache was unreachable until the server ended.
    let deletions = (try? Trash(library, keeps: Self.longest).deletions()) ?? []
    purge(deletions.flatMap(\.images))
  }

  /// Purges images that were removed since the last call. Call it whenever the library may have changed.
  func look(at library: Library) {
    if queues.isEmpty { return }
    known.withLock { known in
      if library.asksForImages {
        // If the database is unreachable, the next look reads the same changes.
        try? readChanges(of: library.catalog, &known)
        return
      }
      let before = known.ids
      known.ids = library.current.ids
      // Arrays that share memory are equal without a comparison of elements.
      if before != known.ids { purge(Self.gone(from: before, in: known.ids)) }
    }
  }

  /// Purges the images that changed and do not exist any more.
  private func readChanges(of catalog: Catalog, _ known: inout Known) throws(StorageError) {
    // The first look, and one after the feed has dropped changes, purges all images that were removed recently.
    if known.readAt + Self.feedLifetime < .now { known.place = nil }
    guard let last = known.place else {
      let place = try catalog.place()
      try catalog.gone(since: catalog.now() - Self.longest) { purge($0) }
      known.place = place
      known.readAt = .now
      return
    }
    let changes = try catalog.changes(behind: last)
    if let images = changes.images {
      let ids = Array(images)
      for start in stride(from: 0, to: ids.count, by: 1000) {
        purge(try catalog.gone(among: Array(ids[start..<min(start + 1000, ids.count)])))
      }
    } else {
      try catalog.gone(between: last, and: changes.place) { purge($0) }
    }
    known.place = changes.place
    known.readAt = .now
  }

  /// Adds the surrogate keys of images to the queue of each cache.
  private func purge(_ ids: [ImageID]) {
    guard !ids.isEmpty else { return }
    let keys = ids.map { SurrogateKey(of: $0.text, seed).text }
    for queue in queues { queue.add(keys) }
  }

  func stop() { for queue in queues { queue.stop() } }

  /// Returns the elements of sorted ids that other sorted ids do not have.
  static func gone(from before: [ImageID], in after: [ImageID]) -> [ImageID] {
    var rest = after[...]
    return before.filter { id in
      while let first = rest.first, first < id { rest.removeFirst() }
      return rest.first != id
    }
  }
}

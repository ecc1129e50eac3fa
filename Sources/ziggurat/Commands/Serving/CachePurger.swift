import Glibc
import Synchronization
import ZigguratCatalog
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratObjectStore
import ZigguratTileServing

/// Has the caches in front of the server forget images that are gone from the library, however they went.
///
/// Every server of a library does so when it has seen that an image is gone: the last to see it asks when none answers
/// with the image any more.
final class CachePurger: Sendable {
  private let queues: [PurgeQueue]
  private let seed: SurrogateKey.Seed
  /// What was known of the library when it was looked at last.
  private struct Known {
    /// Nothing without caches, since the table that shares it is copied when it changes.
    var ids: [ImageID] = []
    /// How far the changes of a catalog that servers share were heard.
    var place: Catalog.Place?
    var heard = ContinuousClock.now
  }
  private let known = Mutex(Known())
  /// Seconds that a cache keeps anything (`s-maxage`).
  private static let longest = 86_400
  /// How long changes surely are told.
  private static let told = Duration.seconds(3000)

  /// - Parameters:
  ///   - addresses: where the caches are asked.
  ///   - seed: of the keys that answers have.
  init(_ addresses: [EdgeCache], _ seed: SurrogateKey.Seed, of library: Library) {
    self.seed = seed
    queues = addresses.map { cache in
      PurgeQueue(cache.forget) { isHeard in
        Output.error(
          isHeard
            ? "\(cache) answers purge requests again" : "\(cache) cannot be purged; the server tries again")
      }
    }
    for queue in queues { queue.start() }
    look(at: library)
    guard !queues.isEmpty, !library.asksForImages else { return }
    // What was deleted while no server ran, or the cache was away until this one ended.
    let deletions = (try? Trash(library, keeps: Self.longest).deletions()) ?? []
    forget(deletions.flatMap(\.images))
  }

  /// To be called whenever the library may have changed.
  func look(at library: Library) {
    if queues.isEmpty { return }
    known.withLock { known in
      if library.asksForImages {
        // A database that is away is asked for the same with the next look.
        try? listen(to: library.catalog, &known)
        return
      }
      let before = known.ids
      known.ids = library.current.ids
      // The same array has the same images without a look at them.
      if before != known.ids { forget(Self.gone(from: before, in: known.ids)) }
    }
  }

  /// Has those forgotten of the images that have changed that are there no more.
  private func listen(to catalog: Catalog, _ known: inout Known) throws(StorageError) {
    // What was to be forgotten when the server ended, or is told no more since it was long ago, is forgotten once more.
    if known.heard + Self.told < .now { known.place = nil }
    guard let heard = known.place else {
      let place = try catalog.place()
      try catalog.gone(since: catalog.now() - Self.longest) { forget($0) }
      known.place = place
      known.heard = .now
      return
    }
    let changes = try catalog.changes(behind: heard)
    if let images = changes.images {
      let ids = Array(images)
      for start in stride(from: 0, to: ids.count, by: 1000) {
        forget(try catalog.gone(among: Array(ids[start..<min(start + 1000, ids.count)])))
      }
    } else {
      try catalog.gone(between: heard, and: changes.place) { forget($0) }
    }
    known.place = changes.place
    known.heard = .now
  }

  func forget(_ ids: [ImageID]) {
    guard !ids.isEmpty else { return }
    let keys = ids.map { SurrogateKey(of: $0.text, seed).text }
    for queue in queues { queue.add(keys) }
  }

  func stop() { for queue in queues { queue.stop() } }

  /// Of sorted ids those that the others, sorted too, do not have.
  static func gone(from before: [ImageID], in after: [ImageID]) -> [ImageID] {
    var rest = after[...]
    return before.filter { id in
      while let first = rest.first, first < id { rest.removeFirst() }
      return rest.first != id
    }
  }
}

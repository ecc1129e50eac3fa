import Glibc
import Synchronization
import ZigguratCatalog
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratObjectStore
import ZigguratTileServing

/// A purger of removed images from the caches in front of the server.
///
/// Every server of a library purges when it notices a removal. The last server does so when no server returns the image
/// any more.
final class CachePurger: Sendable {
  private let queues: [PurgeQueue]
  private let seed: SurrogateKey.Seed
  private let mark = Mutex(RemovalMark())

  /// - Parameters:
  ///   - caches: the caches to purge.
  ///   - seed: the seed of the surrogate keys in responses.
  init(_ caches: [PurgeClient], _ seed: SurrogateKey.Seed, of library: any ImageRepository) {
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
  }

  /// Purges images that were removed since the last call. Call it whenever the library may have changed.
  func look(at library: any ImageRepository) {
    if queues.isEmpty { return }
    // If the database is unreachable, the next call reads the same changes.
    mark.withLock { try? library.removals(since: &$0, purge) }
  }

  /// Adds the surrogate keys of images to the queue of each cache.
  private func purge(_ ids: [ImageID]) {
    guard !ids.isEmpty else { return }
    let keys = ids.map { SurrogateKey(of: $0.text, seed).text }
    for queue in queues { queue.add(keys) }
  }

  func stop() { for queue in queues { queue.stop() } }
}

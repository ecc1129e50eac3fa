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
final class EdgePurging: Sendable {
  private let queues: [PurgeQueue]
  private let seed: SurrogateKey.Seed
  private let mark = Mutex(RemovalMark())

  /// - Parameters:
  ///   - addresses: where the caches are asked.
  ///   - seed: of the keys that answers have.
  init(_ addresses: [EdgeCache], _ seed: SurrogateKey.Seed, of library: any ImageRepository) {
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
  }

  /// To be called whenever the library may have changed.
  func look(at library: any ImageRepository) {
    if queues.isEmpty { return }
    // A database that is away is asked for the same at the next look.
    mark.withLock { try? library.removals(since: &$0, forget) }
  }

  func forget(_ ids: [ImageID]) {
    guard !ids.isEmpty else { return }
    let keys = ids.map { SurrogateKey(of: $0.text, seed).text }
    for queue in queues { queue.add(keys) }
  }

  func stop() { for queue in queues { queue.stop() } }
}

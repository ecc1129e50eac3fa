import Synchronization
import ZigguratConcurrency

/// An LRU cache of tiles that all images of a store share, bounded in bytes.
package final class TileCache: Sendable {
  struct Place: Hashable, Sendable {
    /// The image's number.
    let image: Int
    let tile: Int
  }

  /// The cache's counters so far, and its size in bytes.
  package struct Counts: Sendable {
    package var hits = 0
    package var misses = 0
    package var bytes = 0
  }

  let limit: Int
  /// Threads for large checks and copies. These take too long for the store's thread, and for the threads that serve
  /// requests. They belong to the process: threads that were started stay.
  static let workers = ThreadPool(threads: 2, capacity: .max)
  private let tiles: Mutex<LRUCache<Place, ObjectBytes>>
  private let counted = Mutex(Counts())
  private let images = Atomic<Int>(0)
  /// The bytes that open archives keep.
  private let held = Atomic<Int>(0)
  /// The memory of a tile besides its bytes.
  private static let overhead = 128

  /// - Parameter limit: bytes of all tiles together. Bytes of responses that are being sent are extra.
  package init(limit: Int) {
    self.limit = limit
    tiles = Mutex(LRUCache(limit: limit))
  }

  package var counts: Counts {
    var counts = counted.withLock { $0 }
    counts.bytes = tiles.withLock { $0.weight }
    return counts
  }

  /// Returns a number that no other image has, or had.
  func numberOfImage() -> Int { images.wrappingAdd(1, ordering: .relaxed).newValue }

  func tile(_ place: Place) -> ObjectBytes? {
    let found = tileAgain(place)
    if found != nil { counted.withLock { $0.hits += 1 } }
    return found
  }

  /// Counts a request for a tile that is fetched, or is already being fetched.
  func countMiss() { counted.withLock { $0.misses += 1 } }

  /// Returns the tile without counting a hit, for a request that was counted before.
  func tileAgain(_ place: Place) -> ObjectBytes? { tiles.withLock { $0.value(for: place) } }

  func keep(_ bytes: ObjectBytes, at place: Place) {
    tiles.withLock { $0.insert(bytes, for: place, weight: bytes.bytes.count + Self.overhead) }
  }

  func hold(_ count: Int) { held.wrappingAdd(count, ordering: .relaxed) }

  func release(_ count: Int) { held.wrappingSubtract(count, ordering: .relaxed) }

  /// Whether archives keep so many returned bytes that the cache cannot free memory.
  var isUnavailable: Bool { held.load(ordering: .relaxed) > limit / 2 }
}

import Synchronization
import ZigguratThreads

/// What all images of a store have in memory together: tiles that were read, as many bytes as it may be.
package final class ObjectMemory: Sendable {
  struct Place: Hashable, Sendable {
    /// The image's number.
    let image: Int
    let tile: Int
  }

  /// How it went so far.
  package struct Counts: Sendable {
    package var hits = 0
    package var misses = 0
    package var bytes = 0
  }

  let limit: Int
  /// Checks and copies of much take longer than the store's thread has; they are not done where requests are served,
  /// either. The process's own: threads stay once they are there.
  static let workers = WorkQueue(threads: 2, capacity: .max)
  private let tiles: Mutex<LeastRecentlyUsed<Place, ObjectBytes>>
  private let counted = Mutex(Counts())
  private let images = Atomic<Int>(0)
  /// Bytes that open archives hold.
  private let held = Atomic<Int>(0)
  /// What a tile takes besides its bytes.
  private static let overhead = 128

  /// - Parameter limit: bytes of all tiles together; those of answers that are on their way come on top.
  package init(limit: Int) {
    self.limit = limit
    tiles = Mutex(LeastRecentlyUsed(limit: limit))
  }

  package var counts: Counts {
    var counts = counted.withLock { $0 }
    counts.bytes = tiles.withLock { $0.weight }
    return counts
  }

  /// A number that no other image has, nor had.
  func numberOfImage() -> Int { images.wrappingAdd(1, ordering: .relaxed).newValue }

  func tile(_ place: Place) -> ObjectBytes? {
    let found = tileAgain(place)
    if found != nil { counted.withLock { $0.hits += 1 } }
    return found
  }

  /// A tile is fetched that was asked for, or is waited for with those who did.
  func countMiss() { counted.withLock { $0.misses += 1 } }

  /// The same, of whoever has asked before.
  func tileAgain(_ place: Place) -> ObjectBytes? { tiles.withLock { $0.value(for: place) } }

  func keep(_ bytes: ObjectBytes, at place: Place) {
    tiles.withLock { $0.insert(bytes, for: place, weight: bytes.bytes.count + Self.overhead) }
  }

  func hold(_ count: Int) { held.wrappingAdd(count, ordering: .relaxed) }

  func letGo(_ count: Int) { held.wrappingSubtract(count, ordering: .relaxed) }

  /// Archives hold what they gave, which the memory cannot let go of meanwhile.
  var isHeldUp: Bool { held.load(ordering: .relaxed) > limit / 2 }
}

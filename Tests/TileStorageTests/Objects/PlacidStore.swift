import Synchronization
import ZigguratConcurrency
import ZigguratFiles

@testable import TileStorage

/// A store of objects in memory that answers on a thread of its own, with the changes of the test.
final class PlacidStore: ObjectReading {
  /// A change of a response.
  typealias Change =
    @Sendable (_ number: Int, Result<ObjectTail, ObjectError>) -> Result<ObjectTail, ObjectError>

  private let objects: [String: [UInt8]]
  private let change: Change
  private let asked = Mutex<[Range<Int>]>([])
  private static let thread = ThreadPool(threads: 1, capacity: .max)

  init(_ objects: [String: [UInt8]], _ change: @escaping Change = { $1 }) {
    self.objects = objects
    self.change = change
  }

  /// The ranges that were read, in their order.
  var reads: [Range<Int>] { asked.withLock { $0 } }

  func read(
    _ version: ObjectVersion, _ range: Range<Int>, by deadline: ContinuousClock.Instant,
    _ done: @escaping @Sendable (Result<ObjectBytes, ObjectError>) -> Void
  ) {
    answer(version.key, range) { done($0.map(\.bytes)) }
  }

  func readEnd(
    ofKey key: String, atMost count: Int, by deadline: ContinuousClock.Instant,
    _ done: @escaping @Sendable (Result<ObjectTail, ObjectError>) -> Void
  ) {
    let whole = objects[key]?.count ?? 0
    answer(key, max(0, whole - count)..<whole, done)
  }

  private func answer(
    _ key: String, _ range: Range<Int>, _ done: @escaping @Sendable (Result<ObjectTail, ObjectError>) -> Void
  ) {
    let number = asked.withLock { asked in
      asked.append(range)
      return asked.count - 1
    }
    let answer: Result<ObjectTail, ObjectError> =
      if let object = objects[key] {
        .success(
          ObjectTail(
            version: ObjectVersion(key: key, etag: "\"1\"", byteCount: object.count),
            bytes: ObjectBytes(copying: object[range])!))
      } else {
        .failure(.missing)
      }
    _ = Self.thread.submit { [change] in done(change(number, answer)) }
  }

  /// Opens the archive under a key and waits for it.
  func open(_ key: String, generation: UInt64? = nil, _ memory: TileCache) throws -> ObjectImage {
    let found = Mutex<Result<ObjectImage, StorageError>?>(nil)
    let wakeUps = CountingSemaphore()
    ObjectImage.open(key: key, generation: generation, from: self, memory) { result in
      found.withLock { $0 = result }
      wakeUps.signal()
    }
    wakeUps.wait()
    return try found.withLock { $0! }.get()
  }
}

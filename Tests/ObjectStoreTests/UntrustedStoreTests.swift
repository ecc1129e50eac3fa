import Foundation
import Synchronization
import Testing
import TileGeometry
import ZigguratConcurrency
import ZigguratFiles
import ZigguratTestSupport

@testable import TileStorage
@testable import ZigguratObjectStore
@testable import ZigguratObjectStoreSupport

/// An archive's tiles through all layers between a store and a reader.
enum StoredArchive {
  static let pyramid = Pyramid(imageSize: PixelSize(width: 1500, height: 1100)!, tileSize: 128)!

  private static let tiles = (0..<pyramid.tileCount).map { number in
    var random = SplitMix(UInt64(number))
    return (0..<5000 + number).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  static func tile(_ number: Int) -> [UInt8] { tiles[number] }

  /// Writes it, finest tiles first, as builders do.
  static func write(to path: String) throws {
    let writer = try SZIWriter(destination: path, name: "a", pyramid: pyramid, format: .jpeg)
    for number in (0..<pyramid.tileCount).reversed() {
      try tile(number).withUnsafeBytes { try writer.append(tile: number, $0, crc: checksum($0)) }
    }
    _ = try writer.finish()
  }

  static func open(
    _ client: ObjectClient, _ key: String, generation: UInt64? = nil, _ memory: TileCache
  ) -> Result<ObjectImage, StorageError> {
    ObjectClientTests.result { ObjectImage.open(key: key, generation: generation, from: client, memory, $0) }
  }
}

/// A store that lies.
struct UntrustedStoreTests {
  @Test func `ten thousand mostly false responses yield no wrong byte`() throws {
    let folder = try TemporaryFolder()
    try StoredArchive.write(to: folder("a.szi"))
    let generation = try TileArchive(path: folder("a.szi")).generation
    let seed = SplitMix.runSeed
    print("hostile answers: seed \(seed)")
    let lies = FakeStore.Answer.allCases.filter { $0 != .silent && $0 != .honest }
    let random = Mutex(SplitMix(seed))
    let server = FakeStore([ObjectClientTests.path: try bytes(ofFile: folder("a.szi"))]) { _, _ in
      random.withLock { $0.below(10) < 4 ? .honest : $0.pick(lies) }
    }
    defer { server.stop() }
    let client = try ObjectClientTests.client(server)
    var (right, withheld, rounds) = (0, 0, 0)
    while server.requestCount < 10_000 {
      rounds += 1
      let memory = TileCache(limit: 1 << 20)
      let opened = StoredArchive.open(
        client, ObjectClientTests.version.key, generation: rounds % 2 == 0 ? generation : nil, memory)
      guard case .success(let image) = opened else { continue }
      let archive = image.archive()
      #expect(archive.pyramid == StoredArchive.pyramid, "seed \(seed)")
      let numbers = (0..<archive.pyramid.tileCount).filter { $0 % 3 == rounds % 3 }
      // Some together, some alone.
      archive.expect(Array(numbers.prefix(numbers.count / 2)))
      for number in numbers {
        guard let tile = archive.tile(number) else {
          withheld += 1
          continue
        }
        right += 1
        let isRight = StoredArchive.tile(number).withUnsafeBytes {
          $0.count == tile.count && memcmp($0.baseAddress!, tile.baseAddress!, tile.count) == 0
        }
        #expect(isRight, "seed \(seed), tile \(number)")
      }
    }
    #expect(right > 1000 && withheld > 1000, "seed \(seed): \(right) tiles, \(withheld) withheld")
  }
}

import Foundation
import Testing
import ZigguratConcurrency
import ZigguratTestSupport

@testable import TileStorage
@testable import ZigguratObjectStore

/// Tests against a real store, which `Tests/scale/with-ceph` and `with-swift` declare by the environment.
@Suite(
  .enabled(
    if: ProcessInfo.processInfo.environment["ZIGGURAT_TEST_BUCKET"] != nil, "no store: make test-scale"),
  .serialized)
struct RealStoreTests {
  private let address: ObjectAddress
  private let settings: ObjectSettings
  private let folder: TemporaryFolder

  init() throws {
    let bucket = ProcessInfo.processInfo.environment["ZIGGURAT_TEST_BUCKET"] ?? ""
    address = try #require(ObjectAddress("s3://\(bucket)/real-\(UInt64.random(in: 0...(.max)))"))
    settings = try ObjectSettings()
    folder = try TemporaryFolder()
  }

  private func writer(_ parts: ObjectWriter.Parts = .init()) -> ObjectWriter {
    ObjectWriter(address, settings, parts: parts)
  }

  private func file(_ count: Int) throws -> (path: String, content: [UInt8]) {
    var random = SplitMix(SplitMix.runSeed)
    var content = [UInt8](repeating: 0, count: count)
    for at in stride(from: 0, to: count, by: 97) { content[at] = UInt8(truncatingIfNeeded: random.next()) }
    return (try folder.write("file", content), content)
  }

  @Test("a written object is read, whole and in parts", arguments: [1, 70_000, 17 << 20])
  func roundTrip(_ count: Int) throws {
    let (path, content) = try file(count)
    var parts = ObjectWriter.Parts()
    (parts.wholeAtMost, parts.byteCount) = (10 << 20, 5 << 20)
    let key = "\(address.prefix)szi/ab/\(count).szi"
    let version = try writer(parts).put(file: path, sha256: SHA256.of(content), key: key)
    #expect(try writer().list(after: nil).versions == [version])
    let client = try #require(ObjectClient(address, settings))
    var random = SplitMix(SplitMix.runSeed)
    for _ in 0..<20 {
      let first = random.below(count)
      let range = first..<first + 1 + random.below(min(count - first, 1 << 20))
      #expect(ObjectClientTests.read(client, range, of: version) == .success(Array(content[range])))
    }
    let end = try ObjectClientTests.readEnd(client, key: key, 256 << 10).get()
    #expect(end.version == version && Array(end.bytes.bytes) == content.suffix(256 << 10))
    #expect(client.counts.errors == 0)
    let other = ObjectVersion(key: key, etag: "\"0123\"", byteCount: count)
    #expect(ObjectClientTests.read(client, 0..<1, of: other) == .failure(.otherVersion))
    try writer().remove(key)
    try writer().remove(key)
    #expect(ObjectClientTests.read(client, 0..<1, of: version) == .failure(.missing))
  }

  @Test func `the store rejects content with another digest`() throws {
    let (path, content) = try file(70_000)
    let key = "\(address.prefix)damaged"
    #expect(throws: ObjectError.refused(400)) {
      _ = try writer().put(file: path, sha256: SHA256.of(content + [0]), key: key)
    }
    #expect(try writer().list(after: nil).versions == [])
  }

  @Test func `lists continue after the last key`() throws {
    let (path, content) = try file(3)
    let keys = (0..<1005).map { "\(address.prefix)\(1_000_000 + $0)" }
    for key in keys { _ = try writer().put(file: path, sha256: SHA256.of(content), key: key) }
    let first = try writer().list(after: nil).versions
    let rest = try writer().list(after: (first.last?.key).map { Array($0.utf8) }).versions
    #expect(first.count == 1000 && (first + rest).map(\.key) == keys)
    #expect(try writer().list(after: keys.last.map { Array($0.utf8) }).versions == [])
  }

  @Test func `a client with wrong credentials is rejected`() throws {
    let own = ProcessInfo.processInfo.environment
    let wrong = own.merging(["AWS_SECRET_ACCESS_KEY": "wrong"]) { $1 }
    let client = try #require(ObjectClient(address, ObjectSettings(wrong) { _ in nil }))
    #expect(ObjectClientTests.readEnd(client, key: "none", 1).map(\.version) == .failure(.refused(403)))
    let right = try #require(ObjectClient(address, settings))
    #expect(ObjectClientTests.readEnd(right, key: "none", 1).map(\.version) == .failure(.missing))
  }

  /// Returns the number of reads of a key in the gateway's own log.
  private func reads(of key: String) throws -> Int {
    let log = try #require(ProcessInfo.processInfo.environment["ZIGGURAT_TEST_STORE_LOG"])
    let text = String(decoding: try bytes(ofFile: log), as: UTF8.self)
    return text.split(separator: "\n").count { $0.contains("\"GET /") && $0.contains("/\(key) ") }
  }

  @Test func `an archive takes the fewest possible reads, and has the folder's tiles`() throws {
    let path = folder("a.szi")
    try StoredArchive.write(to: path)
    let content = try bytes(ofFile: path)
    let key = "\(address.prefix)szi/ab/a.szi"
    _ = try writer().put(file: path, sha256: SHA256.of(content), key: key)
    let client = try #require(ObjectClient(address, settings))
    let memory = TileCache(limit: 64 << 20)
    let reference = try TileArchive(path: path)

    // Cold, with its coarsest tiles.
    let image = try StoredArchive.open(client, key, memory).get()
    let archive = image.archive()
    #expect(archive.generation == reference.generation)
    for level in 0...archive.pyramid.finestSingleTileLevel {
      let number = try #require(archive.tileIndex(level: level, column: 0, row: 0))
      #expect(archive.tile(number)?.elementsEqual(StoredArchive.tile(number)) == true)
    }
    // Versions, which conditions depend on, need no request.
    #expect((0..<archive.pyramid.tileCount).allSatisfy { archive.version(ofTile: $0) == 0 })
    #expect(client.counts.requests == 1)

    // A thousand at once.
    let (cold, came) = (archive.pyramid.tileCount - 1, CountingSemaphore())
    StartedThread.several(8) { _ in
      for _ in 0..<125 {
        if case .pending(let tile) = archive.stored(cold) {
          tile.whenComplete { came.signal() }
        } else {
          came.signal()
        }
      }
    }
    for _ in 0..<1000 { came.wait() }
    #expect(archive.tile(cold)?.elementsEqual(StoredArchive.tile(cold)) == true)
    #expect(client.counts.requests == 2)

    // A window of 1280×800 at full size.
    let top = archive.pyramid.topLevel
    let window = (0..<7).flatMap { row in
      (0..<10).compactMap { archive.tileIndex(level: top, column: $0, row: row) }
    }
    archive.expect(window)
    #expect(window.allSatisfy { archive.tile($0)?.elementsEqual(StoredArchive.tile($0)) == true })
    #expect(client.counts.requests <= 2 + 6)

    for number in 0..<archive.pyramid.tileCount {
      #expect(archive.tile(number)?.elementsEqual(reference.tile(number)!) == true)
    }
    #expect(client.counts.errors == 0)
    // The log is written behind the answers.
    let (asked, end) = (client.counts.requests, ContinuousClock.now + .seconds(30))
    while try reads(of: key) < asked, .now < end { usleep(10_000) }
    #expect(try reads(of: key) == asked)
  }
}

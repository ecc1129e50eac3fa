import Foundation
import TestSupport
import Testing
import TileStorage

@testable import ObjectStore

/// The same against a real store, of which `Tests/scale/with-ceph` tells by the environment.
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

  @Test("what was put is read, whole and in parts", arguments: [1, 70_000, 17 << 20])
  func roundTrip(_ count: Int) throws {
    let (path, content) = try file(count)
    var parts = ObjectWriter.Parts()
    (parts.wholeAtMost, parts.byteCount) = (10 << 20, 5 << 20)
    let key = "\(address.prefix)szi/ab/\(count).szi"
    let pin = try writer(parts).put(file: path, sha256: SHA256.of(content), key: key)
    #expect(try writer().list(after: nil) == [pin])
    let client = try #require(ObjectClient(address, settings))
    var random = SplitMix(SplitMix.runSeed)
    for _ in 0..<20 {
      let first = random.below(count)
      let range = first..<first + 1 + random.below(min(count - first, 1 << 20))
      #expect(ObjectClientTests.read(client, range, of: pin) == .success(Array(content[range])))
    }
    let end = try ObjectClientTests.readEnd(client, key: key, 256 << 10).get()
    #expect(end.pin == pin && Array(end.bytes.bytes) == content.suffix(256 << 10))
    #expect(client.counts.faults == 0)
    let other = ObjectPin(key: key, etag: "\"0123\"", byteCount: count)
    #expect(ObjectClientTests.read(client, 0..<1, of: other) == .failure(.otherVersion))
    try writer().remove(key)
    try writer().remove(key)
    #expect(ObjectClientTests.read(client, 0..<1, of: pin) == .failure(.missing))
  }

  @Test func `the store refuses what is not of its digest`() throws {
    let (path, content) = try file(70_000)
    let key = "\(address.prefix)damaged"
    #expect(throws: ObjectFault.refused(400)) {
      _ = try writer().put(file: path, sha256: SHA256.of(content + [0]), key: key)
    }
    #expect(try writer().list(after: nil) == [])
  }

  @Test func `lists go on behind the last key`() throws {
    let (path, content) = try file(3)
    let keys = (0..<1005).map { "\(address.prefix)\(1_000_000 + $0)" }
    for key in keys { _ = try writer().put(file: path, sha256: SHA256.of(content), key: key) }
    let first = try writer().list(after: nil)
    let rest = try writer().list(after: first.last?.key)
    #expect(first.count == 1000 && (first + rest).map(\.key) == keys)
    #expect(try writer().list(after: keys.last) == [])
  }

  @Test func `whoever has other keys is refused`() throws {
    let own = ProcessInfo.processInfo.environment
    let wrong = own.merging(["AWS_SECRET_ACCESS_KEY": "wrong"]) { $1 }
    let client = try #require(ObjectClient(address, ObjectSettings(wrong) { _ in nil }))
    #expect(ObjectClientTests.readEnd(client, key: "none", 1).map(\.pin) == .failure(.refused(403)))
    let right = try #require(ObjectClient(address, settings))
    #expect(ObjectClientTests.readEnd(right, key: "none", 1).map(\.pin) == .failure(.missing))
  }
}

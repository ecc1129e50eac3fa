import Foundation
import Testing
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratObjectStore
@testable import ZigguratObjectStoreSupport

/// Libraries in a store that breaks every rule in turn: nothing traps, nothing is believed that nobody wrote, nothing is
/// lost, and once the store is sound again all goes on. `STORE_CASES` says how many operations are tried.
@Suite(.serialized) struct StoreFuzzingTests {
  private static let cases =
    ProcessInfo.processInfo.environment["STORE_CASES"].flatMap { Int($0) } ?? 250
  /// Keys that nobody of ours writes, below each of the library's folders.
  private static let strayNames: [[UInt8]] =
    [
      "", "a//x", "../x", ".", "a b", "1700000000000-ab (1)", "1700000000000-AB",
      "1700000000000-ab-whole.bak",
      "1700000000000", "9999999999999-1", "tab\there", "line\nfeed", "\u{202e}x", "é", "%2e%2e", "a+b",
      "'\"<&>",
      String(repeating: "k", count: 1024 - "some/library/directory/".utf8.count),
      "ab/\(String(repeating: "A", count: 64)).szi",
      "ab/\(String(repeating: "c", count: 64)).szi", "ab/\(String(repeating: "a", count: 64)).szi ",
    ].map { Array($0.utf8) } + [[0xff, 0xfe], [0x61, 0x80], [0x00, 0x61]]

  /// The known facts about one image.
  private struct Known {
    let generation: UInt64
    /// Whether it was written for certain, and taken away for certain.
    var isWritten: Bool?
    var isGone: Bool? = false
  }

  private struct Model {
    var images: [ImageID: Known] = [:]

    func check(_ contents: LibraryIndex.Contents) -> String? {
      for (id, known) in images {
        switch (contents.records[id]?.generation, known.isWritten, known.isGone) {
        case (nil, true?, false?): return "\(id) is lost"
        case (.some, _, true?): return "\(id) is there again"
        case (let found?, _, _) where found != known.generation: return "\(id) is another one"
        default: continue
        }
      }
      return contents.records.keys.first { images[$0] == nil }.map { "\($0) was never written" }
    }
  }

  private struct Machine {
    let address = ObjectAddress("s3://\(FuzzingStore.bucket)/some/library")!
    let settings: ObjectSettings
    let client: ObjectClient
    let limits: RequestLimits
    let strays = StrayObjects()
    let directory: LibraryIndex

    init(_ store: FuzzingStore) throws {
      settings = try ObjectSettings([
        "AWS_ENDPOINT_URL_S3": store.endpoint, "AWS_ACCESS_KEY_ID": "K", "AWS_SECRET_ACCESS_KEY": "s",
      ]) { _ in nil }
      var timeout = RequestPolicy()
      (timeout.whole, timeout.attempt) = (.milliseconds(200), .milliseconds(60))
      (timeout.pause, timeout.breaker) = (.milliseconds(1), CircuitBreaker(share: 2))
      timeout.retries = RetryBudget(share: 1, most: 1000)
      client = try #require(ObjectClient(address, settings, timeout))
      var limits = RequestLimits(tries: 2, pause: .milliseconds(1), silence: .milliseconds(60))
      (limits.grace, limits.whole) = (.milliseconds(20), .milliseconds(200))
      self.limits = limits
      directory = LibraryIndex(address, settings, reading: client, limits: limits, strays: strays)
    }

    func sweep(_ now: Int) throws(StorageError) -> ObjectLibrary.GarbageCollectionResult {
      try GarbageCollector(
        address: address, settings: settings, reading: client, directory: directory, strays: strays,
        limits: limits
      ).run(now: now, wait: 100)
    }
  }

  private static func line(_ id: ImageID, _ generation: UInt64, _ digest: [UInt8]) -> [UInt8] {
    let record = ListedRecord(
      digest: digest, etag: "\"e1\"", byteCount: 9, generation: generation,
      pyramid: Pyramid(imageSize: PixelSize(width: 600, height: 400)!, tileSize: 256)!, format: .jpeg,
      text: .nothing, build: 0..<0, metadata: 0..<0)
    return IndexEntry.text(
      image: id, record, build: Array("{}".utf8), metadata: Array("{\"title\":\"\(id)\"}".utf8))
  }

  private static func error(_ body: () throws(StorageError) -> Void) -> StorageError? {
    do throws(StorageError) { try body() } catch { return error }
    return nil
  }

  @Test func `the library stays as written whatever the store responds`() throws {
    print("store fuzzing: SEED=\(SplitMix.runSeed), \(Self.cases) cases")
    // Small libraries, each in a store of its own: with many segments a list takes longer than the short time limits.
    for start in stride(from: 0, to: Self.cases, by: 250) {
      try library(SplitMix.runSeed &+ UInt64(start), cases: min(250, Self.cases - start))
    }
  }

  private func library(_ seed: UInt64, cases: Int) throws {
    var random = SplitMix(seed)
    let store = FuzzingStore(SplitMix(seed &+ 1))
    defer { store.stop() }
    let (builder, reader) = (try Machine(store), try Machine(store))
    var (model, strays, archives): (Model, Set<[UInt8]>, [ImageID: [UInt8]]) = (Model(), [], [:])
    var (failures, successes) = (0, 0)
    for number in 0..<cases {
      store.with { $0.mischief = random.pick([0, 0.1, 0.5, 0.9]) }
      let place: Comment = "case \(number), seed \(seed)"
      var failed: StorageError?
      switch random.below(10) {
      case 0..<4:
        let name = "image \(number)"
        let id = try #require(ImageID(name))
        let digest = (0..<32).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let generation = random.next()
        let key = Array(ListedRecord.key(digest, below: "some/library/").utf8)
        store.put(key, Array("an archive".utf8))
        archives[id] = key
        let lines = [Self.line(id, generation, digest)]
        let adds = random.sometimes(2)
        failed = Self.error { () throws(StorageError) in
          if adds { try builder.directory.add(lines) } else { try builder.directory.append(lines) }
        }
        model.images[id] = Known(generation: generation, isWritten: failed == nil ? true : nil)
      case 4:
        let there = model.images.filter { $0.value.isWritten == true && $0.value.isGone == false }.keys
          .sorted()
        guard !there.isEmpty else { continue }
        let id = random.pick(there)
        failed = Self.error { () throws(StorageError) in
          try builder.directory.add([IndexEntry.text(gone: id)])
        }
        model.images[id]?.isGone = failed == nil ? true : nil
      case 5: failed = Self.error { () throws(StorageError) in try builder.directory.compact() }
      case 6:
        failed = Self.error { () throws(StorageError) in _ = try builder.sweep(number * random.pick([1, 50]))
        }
      case 7:
        let name = random.pick(Self.strayNames)
        let key = Array("some/library/\(random.pick(["directory/", "szi/", "sweep/", ""]))".utf8) + name
        if key.last != UInt8(ascii: "s") {
          store.put(key, random.sometimes(2) ? [] : Array("ziggurat-directory 1\nend\t0\t0\n".utf8))
          strays.insert(key)
        }
      case 8: failed = Self.error { () throws(StorageError) in try reader.directory.refresh() }
      default:
        // What a program that was just started reads.
        let fresh = try Machine(store)
        failed = Self.error { () throws(StorageError) in try fresh.directory.refresh() }
        if failed == nil { #expect(model.check(fresh.directory.current) == nil, place) }
      }
      if failed == nil { successes += 1 } else { failures += 1 }
      #expect(failed?.reason.isEmpty != true, place)
      for machine in [builder, reader] where failed == nil && machine.directory === reader.directory {
        // Whatever it has read last was the library at some time.
        let contents = machine.directory.current
        #expect(contents.records.allSatisfy { model.images[$0]?.generation == $1.generation }, place)
      }
      #expect(store.keys.isSuperset(of: strays), "a stray object was removed, \(place)")
      let needed = model.images.filter { $0.value.isWritten == true && $0.value.isGone == false }.keys
      #expect(
        needed.allSatisfy { archives[$0].map(store.keys.contains) ?? false },
        "an archive was removed, \(place)")
      guard number % 10 == 9 else { continue }
      store.with { $0.mischief = 0 }
      try goOn(model, builder, reader, store, place)
    }
    print("store fuzzing: \(successes) succeeded, \(failures) refused; \(store.with(\.done))")
    #expect(failures > 0 && successes > 0)
  }

  /// All machines read what was written, once the store is sound.
  private func goOn(
    _ model: Model, _ builder: Machine, _ reader: Machine, _ store: FuzzingStore, _ place: Comment
  ) throws {
    for machine in [try Machine(store), builder, reader] {
      // So long beside others' load; of five seconds the limits of one question are a twentieth.
      let end = ContinuousClock.now + .seconds(60)
      var failed: StorageError?
      repeat {
        failed = Self.error { () throws(StorageError) in try machine.directory.refresh() }
      } while failed != nil && .now < end
      #expect(failed == nil, "it does not go on, \(place): \(failed?.description ?? "")")
      // Else it is as it was before.
      guard failed == nil else { return }
      #expect(model.check(machine.directory.current) == nil, place)
    }
  }
}

import Glibc
import Synchronization
import Testing
import TileGeometry
import ZigguratConcurrency
import ZigguratFiles
import ZigguratTestSupport

@testable import TileStorage

/// Archives in an object store, besides what every storage has to do.
struct ObjectTilesTests {
  /// Some 90 tiles of 9 kB, so that most of them lie before the end that is read first.
  private static let pyramid = SmallArchive.pyramid(1000, 700, tileSize: 128)
  private static let whole: (bytes: [UInt8], generation: UInt64) = {
    let folder = try! TemporaryFolder()
    let path = folder("a.szi")
    let writer = try! SZIWriter(destination: path, name: "a", pyramid: pyramid, format: .jpeg)
    for number in (0..<pyramid.tileCount).reversed() {
      try! tile(number).withUnsafeBytes { try writer.append(tile: number, $0, crc: checksum($0)) }
    }
    try! writer.append("vendor/note", Array("a note".utf8))
    _ = try! writer.finish()
    return (try! bytes(ofFile: path), try! TileArchive(path: path).generation)
  }()

  private static func tile(_ number: Int) -> [UInt8] {
    var random = SplitMix(UInt64(number))
    return (0..<9000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  private static let memory = TileCache(limit: 64 << 20)
  /// A tile at the front, far from the end.
  private static let cold = pyramid.tileCount - 1

  private static func store(_ change: @escaping PlacidStore.Change = { $1 }) -> PlacidStore {
    PlacidStore(["a": whole.bytes], change)
  }

  @Test func `an archive is opened by one read, with its coarse tiles and entries`() throws {
    let store = Self.store()
    let archive = try store.open("a", Self.memory).archive()
    #expect(
      archive.pyramid == Self.pyramid && archive.name == "a" && archive.generation == Self.whole.generation)
    for level in 0...Self.pyramid.finestSingleTileLevel {
      let number = try #require(archive.tileIndex(level: level, column: 0, row: 0))
      #expect(archive.copy(number) == Self.tile(number))
    }
    #expect(archive.entry("vendor/note").map { Array($0) } == Array("a note".utf8))
    #expect(archive.entryNames == ["a.dzi", "vendor/note"] && archive.isIntact("vendor/note"))
    #expect(
      archive.byteCount == Self.whole.bytes.count
        && store.reads == [Self.whole.bytes.count - 262_144..<Self.whole.bytes.count])
  }

  @Test func `a thousand simultaneous requests for a tile take one read`() throws {
    let store = Self.store()
    let image = try store.open("a", Self.memory)
    let (archives, came) = ([image.archive(), image.archive()], CountingSemaphore())
    StartedThread.several(4) { number in
      for turn in 0..<250 {
        let archive = archives[(number + turn) % 2]
        if case .pending(let tile) = archive.stored(Self.cold) {
          tile.whenComplete { came.signal() }
        } else {
          came.signal()
        }
      }
    }
    for _ in 0..<1000 { came.wait() }
    #expect(archives.allSatisfy { $0.copy(Self.cold) == Self.tile(Self.cold) })
    #expect(store.reads.count == 2)
  }

  @Test func `a fetched tile counts as one miss, and then as a hit`()
    throws
  {
    let (store, memory) = (Self.store(), TileCache(limit: 1 << 20))
    let image = try store.open("a", memory)
    let (archive, came) = (image.archive(), CountingSemaphore())
    #expect(archive.versionedTile(Self.cold) == nil)
    try #require(archive.pendingTile(Self.cold)).whenComplete { came.signal() }
    came.wait()
    #expect(archive.versionedTile(Self.cold) != nil && memory.counts.misses == 1 && memory.counts.hits == 0)
    #expect(image.archive().copy(Self.cold) == Self.tile(Self.cold))
    #expect(memory.counts.misses == 1 && memory.counts.hits == 1 && store.reads.count == 2)
  }

  @Test func `tiles that are requested together take one read for each row`() throws {
    let store = Self.store()
    let archive = try store.open("a", Self.memory).archive()
    let numbers = (3..<5).flatMap { row in
      (1..<4).map { archive.tileIndex(level: Self.pyramid.topLevel, column: $0, row: row)! }
    }
    archive.expect(numbers)
    for number in numbers { #expect(archive.copy(number) == Self.tile(number)) }
    #expect(store.reads.count == 3)
    archive.expect(numbers)
    #expect(store.reads.count == 3)
  }

  @Test func `cached reads serve a reopened archive while memory lasts`()
    throws
  {
    let (store, memory) = (Self.store(), TileCache(limit: 100_000))
    let image = try store.open("a", memory)
    let first = image.archive()
    _ = (first.copy(Self.cold), image.archive().copy(Self.cold))
    #expect(store.reads.count == 2)
    for number in 0..<40 { _ = first.copy(Self.pyramid.tileCount - 2 - number) }
    #expect(memory.counts.bytes <= 100_000 && first.shouldReopen && !image.archive().shouldReopen)
    let reads = store.reads.count
    #expect(first.copy(Self.cold) == Self.tile(Self.cold) && store.reads.count == reads)
    #expect(image.archive().copy(Self.cold) == Self.tile(Self.cold) && store.reads.count == reads + 1)
  }

  @Test(
    "an unavailable tile is reported once, and requested again later",
    arguments: [ObjectError.cut, .damaged, .refused(403), .unavailable])
  func temporaryErrors(_ defect: ObjectError) throws {
    let store = Self.store { number, answer in number == 1 ? .failure(defect) : answer }
    let image = try store.open("a", TileCache(limit: 1 << 20))
    #expect(Self.description(image.archive().waitForTile(Self.cold)) == "unreachable")
    #expect(Self.description(image.archive().stored(Self.cold)) == "unreachable" && store.reads.count == 2)
    while image.failure(Self.cold) != nil {}
    #expect(image.archive().copy(Self.cold) == Self.tile(Self.cold))
  }

  @Test func `another version or a missing object has no tiles`() throws {
    let replaced = try Self.store { $0 == 1 ? .failure(.otherVersion) : $1 }.open("a", Self.memory)
    let archive = replaced.archive()
    #expect(
      Self.description(archive.waitForTile(Self.cold)) == "unreachable" && archive.shouldReopen
        && replaced.isReplaced)
    let gone = try Self.store { $0 == 1 ? .failure(.missing) : $1 }.open("a", Self.memory)
    #expect(Self.description(gone.archive().waitForTile(Self.cold)) == "unreadable")
  }

  /// The answer with one bit turned.
  private static func flipped(_ answer: Result<ObjectTail, ObjectError>, _ at: Int) -> Result<
    ObjectTail, ObjectError
  > {
    answer.map { end in
      var bytes = Array(end.bytes.bytes)
      bytes[at / 8 % bytes.count] ^= 1 << UInt8(at % 8)
      return ObjectTail(version: end.version, bytes: ObjectBytes(copying: bytes)!)
    }
  }

  @Test func `a tile damaged in transit is read again, and a damaged tile is no tile`() throws {
    let once = Self.store { number, answer in number == 1 ? Self.flipped(answer, 40_000) : answer }
    #expect(try once.open("a", Self.memory).archive().copy(Self.cold) == Self.tile(Self.cold))
    #expect(once.reads.count == 3 && once.reads[1] == once.reads[2])
    let always = Self.store { number, answer in number == 0 ? answer : Self.flipped(answer, 40_000) }
    #expect(
      Self.description(try always.open("a", Self.memory).archive().waitForTile(Self.cold)) == "unreadable")
    #expect(always.reads.count == 3)
  }

  @Test func `a directory with any bit flipped gives no wrong tile`() throws {
    let seed = SplitMix.runSeed
    var random = SplitMix(seed)
    let directory = (Self.whole.bytes.count - 12_000..<Self.whole.bytes.count).map {
      $0 - (Self.whole.bytes.count - 262_144)
    }
    for _ in 0..<400 {
      let bit = random.pick(Array(directory)) * 8 + random.below(8)
      let store = Self.store { number, answer in number == 0 ? Self.flipped(answer, bit) : answer }
      let memory = TileCache(limit: 1 << 20)
      guard let image = try? store.open("a", memory) else { continue }
      let archive = image.archive()
      for number in [0, 3, Self.cold, Self.cold - random.below(60)] where archive.pyramid == Self.pyramid {
        if let tile = archive.copy(number) { #expect(tile == Self.tile(number), "seed \(seed), bit \(bit)") }
      }
      #expect(
        (try? Self.store { $0 == 0 ? Self.flipped($1, bit) : $1 }.open(
          "a", generation: Self.whole.generation, memory))
          == nil || archive.generation == Self.whole.generation, "seed \(seed), bit \(bit)")
    }
  }

  @Test func `an archive other than the listed one is unreachable`() throws {
    let error = #expect(throws: StorageError.self) {
      _ = try Self.store().open("a", generation: Self.whole.generation ^ 1, Self.memory)
    }
    #expect(error?.kind == .unreachable)
    #expect(
      try Self.store().open("a", generation: Self.whole.generation, Self.memory).contents.generation
        == Self.whole.generation)
    let missing = #expect(throws: StorageError.self) { _ = try Self.store().open("b", Self.memory) }
    #expect(missing?.kind == .notFound)
  }

  private static func listed(in store: PlacidStore) -> LazyArchive {
    let version = ObjectVersion(key: "a", etag: "\"1\"", byteCount: whole.bytes.count)
    let archive = ArchiveDescriptor(
      version: version, name: "a", pyramid: pyramid, format: .jpeg, generation: whole.generation,
      entries: { _ in nil })
    return LazyArchive(archive, from: store, TileCache(limit: 1 << 20))
  }

  @Test func `an archive is released with its last reader`() throws {
    let store = Self.store()
    let image = Self.listed(in: store)
    do {
      let archive = image.archive()
      let tile = try #require(archive.pendingTile(Self.cold))
      tile.wait()
      #expect(image.openImage != nil)
      // Another archive uses the open one.
      #expect(image.archive().copy(Self.cold) == Self.tile(Self.cold))
      #expect(store.reads.count == 2)
    }
    // The thread of the store may just be returning from the last answer.
    for _ in 0..<10_000 where image.openImage != nil { usleep(1000) }
    #expect(image.openImage == nil)
  }

  @Test func `a lookup of cached tiles reads nothing, even if the archive changed`() throws {
    let isReplaced = Atomic(false)
    let store = Self.store { isReplaced.load(ordering: .relaxed) ? .failure(.otherVersion) : $1 }
    let image = Self.listed(in: store)
    #expect(image.archive().versionedTile(Self.cold) == nil && store.reads.isEmpty)
    let archive = image.archive()
    #expect(archive.copy(0) == Self.tile(0) && store.reads.count == 1)
    isReplaced.store(true, ordering: .relaxed)
    #expect(archive.copy(Self.cold) == nil && image.openImage == nil)
    let count = store.reads.count
    #expect(image.archive().versionedTile(Self.cold) == nil && store.reads.count == count)
  }

  @Test func `a truncated end record opens nothing`() throws {
    for count in [0, 1, 21, 22, 5000, 262_143] {
      let store = Self.store { number, answer in
        number > 0
          ? answer
          : answer.map {
            ObjectTail(version: $0.version, bytes: ObjectBytes(copying: $0.bytes.bytes.prefix(count))!)
          }
      }
      #expect(throws: StorageError.self) { _ = try store.open("a", Self.memory) }
    }
  }

  @Test func `ranges join near tiles, up to a megabyte`() {
    func part(_ tile: Int, _ start: Int, _ count: Int) -> ReadRange.Part {
      .init(tile: tile, range: start..<start + count)
    }
    let gap = ReadRange.widestGap
    func ranges(_ parts: [ReadRange.Part]) -> [Range<Int>] { ReadRange.holding(parts).map(\.range) }
    #expect(ranges([part(1, 100, 10), part(0, 0, 100)]) == [0..<110])
    #expect(ranges([part(0, 0, 100), part(1, 100 + gap, 10)]) == [0..<110 + gap])
    #expect(ranges([part(0, 0, 100), part(1, 101 + gap, 10)]) == [0..<100, 101 + gap..<111 + gap])
    let most = ReadRange.maxLength
    #expect(
      ranges([part(0, 0, most - 10), part(1, most - 10, 11)]) == [0..<most - 10, most - 10..<most + 1])
    #expect(ranges([part(0, 0, 2 * most), part(1, 2 * most, 5)]) == [0..<2 * most, 2 * most..<2 * most + 5])
    #expect(ranges([part(0, 0, 100), part(1, 10, 5)]) == [0..<100])
  }

  private static func description(_ tile: StoredTile) -> String {
    switch tile {
    case .here: "here"
    case .notFound: "not there"
    case .pending: "not here yet"
    case .unreachable: "unreachable"
    case .unreadable: "unreadable"
    }
  }
}

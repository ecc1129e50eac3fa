import Synchronization
import Testing
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratUploading

@testable import ZigguratImageLibrary
@testable import ZigguratTileServing

/// Sessions, by a clock that the test sets.
@Suite struct SessionTableTests {
  /// A space of unchanging pictures, by default none, that counts how often its keys were wiped.
  final class FixedSpace: OpenSpace {
    let identity: String
    let wiped = Atomic<Int>(0)
    private let all: [SourceImage]

    init(_ identity: String, _ images: [SourceImage] = []) {
      self.identity = identity
      all = images
    }

    func wipeKeys() { wiped.wrappingAdd(1, ordering: .relaxed) }
    func version() throws(StorageError) -> Int { 1 }
    func images() throws(StorageError) -> [SourceImage] { all }
    func changeSidecar(
      ofID id: ImageID, _ body: ([UInt8]) throws(StorageError) -> [UInt8]?
    ) throws(StorageError) -> Bool { false }
    func delete(
      _ ids: [ImageID], at time: Int
    ) throws(StorageError) -> (deletion: Deletion?, refused: [ImageID]) { (nil, ids) }
    func deletions(since oldest: Int) throws(StorageError) -> [Deletion] { [] }
    func restore(_ name: String, since oldest: Int) throws(StorageError) -> Deletion.Restoration? { nil }
    func take(_ id: ImageID, from library: String) throws(StorageError) {}
    func give(_ id: ImageID, to library: String) throws(StorageError) {}
    func hand(_ id: ImageID, to other: any OpenSpace) throws(StorageError) {}
    func purgeDeleted(until oldest: Int) throws(StorageError) {}
    func makeVault() -> any EncryptedUploadSink { preconditionFailure("nothing is uploaded") }
  }

  final class Clock: Sendable {
    let seconds = Atomic<Int>(1_000_000)

    func pass(_ seconds: Int) { self.seconds.wrappingAdd(seconds, ordering: .relaxed) }
  }

  let clock = Clock()
  let table: SessionTable
  let locked = Count()

  final class Count: Sendable { let count = Atomic<Int>(0) }

  init() {
    table = SessionTable(
      limits: SessionTable.Limits(), now: { [clock] in clock.seconds.load(ordering: .relaxed) },
      locked: { [locked] in locked.count.wrappingAdd(1, ordering: .relaxed) })
  }

  static func request(_ id: String?, _ headers: [String: String] = [:], method: String = "GET") -> Request {
    var headers = headers
    if let id { headers["Cookie"] = "theme=dark; ziggurat-session=\(id)" }
    return Request(method: method, rawPath: Array("/".utf8)) { [headers] in headers[$0] }
  }

  private func isAlive(_ id: String) -> Bool { table.session(Self.request(id)) != nil }

  @Test func `a session is found only by its id`() {
    let id = table.begin(instead: Self.request(nil)) { $0.hasToken = true }
    #expect(id.utf8.count == 43)
    #expect(isAlive(id))
    for other in ["", "x", String(id.dropLast()), id + "x", String(id.reversed()), TokenHash.makeSecret()] {
      #expect(!isAlive(other), "\(other)")
    }
    #expect(table.session(Self.request(nil)) == nil)
  }

  @Test func `event streams end with their session`() throws {
    let hub = UploadEventBroadcaster()
    let table = SessionTable(
      limits: SessionTable.Limits(), now: { [clock] in clock.seconds.load(ordering: .relaxed) },
      ended: { hub.endWithSessions() })
    let (one, two) = (
      table.begin(instead: Self.request(nil)) { $0.hasToken = true },
      table.begin(instead: Self.request(nil)) { $0.hasToken = true }
    )
    func open(_ id: String) throws -> EventStream {
      try #require(hub.open(with: [], isWelcome: table.liveness(Self.request(id))) { _ in true })
    }
    let (first, second, third) = (try open(one), try open(two), try open(two))
    let token = try #require(hub.open(with: []) { _ in true })
    table.end(Self.request(one))
    #expect(first.isClosed && !second.isClosed && !third.isClosed)
    // More rights are another session.
    let more = table.begin(instead: Self.request(two)) { $0.hasToken = true }
    #expect(second.isClosed && third.isClosed)
    let last = try open(more)
    clock.pass(SessionTable.Limits().idle)
    table.sweep()
    #expect(last.isClosed && !token.isClosed)
    // One that began as its session ended is found with the next beat.
    let late = try open(one)
    hub.beat()
    #expect(late.isClosed)
  }

  @Test func `a session ends after idle time and after its maximum lifetime`() {
    let limits = SessionTable.Limits()
    let idle = table.begin(instead: Self.request(nil)) { $0.hasToken = true }
    clock.pass(limits.idle - 1)
    #expect(isAlive(idle), "and counts as used")
    clock.pass(limits.idle - 1)
    #expect(isAlive(idle))
    clock.pass(limits.idle)
    #expect(!isAlive(idle))
    let busy = table.begin(instead: Self.request(nil)) { $0.hasToken = true }
    for _ in 0..<(limits.absolute / 600 - 1) {
      clock.pass(600)
      #expect(isAlive(busy))
    }
    clock.pass(600)
    #expect(!isAlive(busy))
    table.sweep()
    #expect(table.count == 0)
  }

  @Test func `more rights give a new id with the age of the old session`() {
    let first = table.begin(instead: Self.request(nil)) { $0.hasToken = true }
    let limits = SessionTable.Limits()
    for _ in 0..<(limits.absolute / 1000) {
      clock.pass(1000)
      #expect(isAlive(first))
    }
    let space = library(of: FixedSpace("a"))
    let second = table.begin(instead: Self.request(first)) { $0.space = space }
    #expect(!isAlive(first))
    #expect(table.session(Self.request(second))?.hasToken == true)
    clock.pass(limits.absolute % 1000)
    #expect(!isAlive(second))
  }

  private func library(of space: FixedSpace) -> SpaceLibrary { try! SpaceLibrary(space) }

  @Test func `keys are wiped with the last session that has them`() {
    let (a, b) = (FixedSpace("a"), FixedSpace("b"))
    let (libraryA, libraryB) = (library(of: a), library(of: b))
    let one = table.begin(instead: Self.request(nil)) { $0.space = libraryA }
    let two = table.begin(instead: Self.request(nil)) { $0.space = libraryA }
    let three = table.begin(instead: Self.request(nil)) { $0.space = libraryB }
    #expect(table.space(of: "a") === libraryA)
    #expect(table.spaces.count == 2)
    table.end(Self.request(one))
    #expect(a.wiped.load(ordering: .relaxed) == 0)
    table.end(Self.request(two))
    #expect(a.wiped.load(ordering: .relaxed) == 1)
    #expect(table.space(of: "a") == nil)
    #expect(isAlive(three))
    clock.pass(SessionTable.Limits().idle)
    table.sweep()
    #expect(b.wiped.load(ordering: .relaxed) == 1)
    #expect(locked.count.load(ordering: .relaxed) == 2)
  }

  @Test func `another password locks the first space, and locking keeps the token`() {
    let (a, b) = (FixedSpace("a"), FixedSpace("b"))
    let (libraryA, libraryB) = (library(of: a), library(of: b))
    let one = table.begin(instead: Self.request(nil)) { $0.space = libraryA }
    let two = table.begin(instead: Self.request(one)) { $0.space = libraryB }
    #expect(a.wiped.load(ordering: .relaxed) == 1)
    let token = table.begin(instead: Self.request(nil)) { $0.hasToken = true }
    table.lockSpaces()
    #expect(b.wiped.load(ordering: .relaxed) == 1)
    #expect(!isAlive(two))
    #expect(isAlive(token))
  }

  @Test func `the number of sessions is limited`() {
    let limit = SessionTable.Limits().count
    let first = table.begin(instead: Self.request(nil)) { $0.hasToken = true }
    for _ in 0..<limit {
      clock.pass(1)
      _ = table.begin(instead: Self.request(nil)) { $0.hasToken = true }
    }
    #expect(table.count == limit)
    #expect(!isAlive(first))
  }
}

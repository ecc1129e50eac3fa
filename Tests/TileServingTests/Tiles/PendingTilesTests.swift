import Glibc
import Synchronization
import Testing
import TileGeometry
import TileStorage
import ZigguratConcurrency
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTestSupport

@testable import ZigguratTileServing

/// Tiles that are not in memory yet, from the server's requests to its responses.
@Suite struct PendingTilesTests {
  private static let pyramid = Pyramid(imageSize: PixelSize(width: 40, height: 24)!, tileSize: 16)!
  private static let tiles = (0..<pyramid.tileCount).map { Array("tile \($0)".utf8) }

  private struct Source: LibrarySource {
    let archive: TileArchive
    let path: String

    func version() throws(StorageError) -> Int { 1 }

    func images() throws(StorageError) -> [SourceImage] {
      [SourceImage(id: "late", path: path) { [archive] in archive }]
    }
  }

  private let backing = PendingTiles(TileArchive(inMemory: pyramid) { tiles[$0] })
  private let library: ListRepository
  private let site: TileServer
  private let folder = try! TemporaryFolder()

  init() throws {
    let archive = TileArchive(
      name: "late", pyramid: Self.pyramid, format: .jpeg, generation: 0xabc, backing: backing)
    library = try ListRepository(Source(archive: archive, path: folder.path), name: "late")
    site = try TileServer(library: library, publicFolder: nil)
  }

  private func number(_ level: Int, _ column: Int, _ row: Int) -> Int {
    Self.pyramid.index(of: TileAddress(level: level, column: column, row: row))!
  }

  private func ask(_ path: String, query: String = "", _ headers: [String: String] = [:]) -> Reply {
    site.respond(
      to: RoutedRequest(
        Request(method: "GET", rawPath: Array(path.utf8), query: Array(query.utf8)) { headers[$0] }))
  }

  private func isHit(_ path: String) -> Bool { lookup(path).isHit }

  /// The result of a lookup without strings: a hit, or a pending tile with its entity tag.
  private func lookup(_ path: String) -> (isHit: Bool, pending: (any Pending)?, tag: TileETag?) {
    Array(path.utf8).withUnsafeBytes { path in
      let query = UnsafeRawBufferPointer(start: nil, count: 0)
      switch site.tile(Route(path, query: query), path, query: query, cookies: { nil }) {
      case .found(let tile):
        tile.archive.release()
        return (true, nil, nil)
      case .pending(let tile, let tag): return (false, tile, tag)
      case .other: return (false, nil, nil)
      }
    }
  }

  private static func bytes(_ response: Response?) -> [UInt8]? {
    switch response?.body {
    case .bytes(let bytes): bytes
    case .gathered(let bytes, let range): bytes.pieces(in: range).flatMap { Array($0) }
    case .stream, .lengthOnly, .omitted, nil: nil
    }
  }

  private static let path = "/dzi/late_files/6/1_0.jpg"

  /// Starts the task of a reply, and returns when it waits for a tile; nil if the reply has no task.
  private func start(_ reply: Reply, waiting count: Int = 1) async -> Task<Response, Never>? {
    guard case .task(let pending) = reply else { return nil }
    let task = Task.detached { await pending.response() }
    while backing.waiting < count { try? await Task.sleep(for: .milliseconds(1)) }
    return task
  }

  @Test func `a reply waits for its tile, which is a hit afterwards`() async throws {
    #expect(!isHit(Self.path))
    let reply = ask(Self.path)
    guard case .task(let pending) = reply else { return #expect(Bool(false), "it has to wait") }
    let head = try #require(pending.head)
    #expect(head.status == 200 && head["Content-Type"] == "image/jpeg")
    let task = try #require(await start(reply))
    backing.come(number(6, 1, 0))
    let response = await task.value
    #expect(response.status == 200 && Self.bytes(response) == Self.tiles[number(6, 1, 0)])
    #expect(response["ETag"] != nil && response["ETag"] == head["ETag"])
    #expect(response["Cache-Control"] == head["Cache-Control"])
    #expect(isHit(Self.path))
    guard case .response(let again) = ask(Self.path) else { return #expect(Bool(false), "it is here") }
    #expect(again["ETag"] == head["ETag"])
  }

  @Test func `a pending tile is fetched when it is awaited, and is then a hit`() throws {
    let tile = try #require(lookup(Self.path).pending)
    #expect(
      lookup("/dzi/late_files/6/9_0.jpg").pending == nil && lookup("/dzi/none_files/6/1_0.jpg").pending == nil
    )
    #expect(backing.asked.isEmpty)
    let came = Mutex(0)
    tile.whenComplete { came.withLock { $0 += 1 } }
    #expect(backing.asked == [number(6, 1, 0)])
    #expect(came.withLock { $0 } == 0 && lookup(Self.path).pending != nil)
    backing.come(number(6, 1, 0))
    #expect(came.withLock { $0 } == 1 && isHit(Self.path))
  }

  /// The outcome of a GET of the pending tile, decided before the tile is fetched.
  private func outcome(ifNoneMatch tags: String) -> Conditions.Outcome? {
    let found = lookup(Self.path)
    return Array(tags.utf8).withUnsafeBufferPointer { tags in
      var conditions = Conditions(isGet: true)
      conditions.ifNoneMatch = tags
      return found.tag?.outcome(conditions, length: nil)
    }
  }

  @Test func `a client that already has the tile does not wait`() throws {
    guard case .task(let pending) = ask(Self.path) else { return #expect(Bool(false), "it has to wait") }
    let tag = try #require(pending.head?["ETag"])
    guard case .response(let known) = ask(Self.path, ["If-None-Match": tag]) else {
      return #expect(Bool(false), "nothing is to be waited for")
    }
    #expect(known.status == 304)
    #expect(outcome(ifNoneMatch: tag) == .notModified && outcome(ifNoneMatch: "\"abc-9\"") == .whole)
    guard case .response(let other) = ask(Self.path, ["If-Match": "\"other\""]) else {
      return #expect(Bool(false), "nothing is to be waited for")
    }
    #expect(other.status == 412)
  }

  @Test func `a range is taken from the tile that arrived`() async throws {
    let task = try #require(await start(ask(Self.path, ["Range": "bytes=1-3"])))
    backing.come(number(6, 1, 0))
    let response = await task.value
    #expect(response.status == 206)
    #expect(Self.bytes(response) == Array(Self.tiles[number(6, 1, 0)][1...3]))
  }

  @Test(
    "an unreachable tile is 503, an unreadable one 500 and an error, and no client waits forever",
    arguments: [(PendingTiles.Outcome.unreachable, 503, 0), (.unreadable, 500, 1), (.stillNotHere, 503, 0)])
  func failures(_ outcome: PendingTiles.Outcome, _ status: Int, _ archiveErrors: Int) async throws {
    let task = try #require(await start(ask(Self.path)))
    backing.come(number(6, 1, 0), outcome)
    let response = await task.value
    #expect(response.status == status)
    #expect((response["Retry-After"] != nil) == (status == 503))
    #expect(library.archiveErrors.count == archiveErrors)
  }

  @Test func `the task of a client that left does not resume when the tile arrives`() async throws {
    let task = try #require(await start(ask(Self.path)))
    task.cancel()
    backing.come(number(6, 1, 0))
    #expect(await task.value.status == 503)
  }

  @Test func `a viewport's tiles are fetched together and sent when all have arrived`() async throws {
    let query = "width=40&height=24&scale=1&x=0&y=0"
    let task = try #require(await start(ask("/api/images/late/viewport.tiles", query: query)))
    let wanted = backing.asked.sorted()
    #expect(wanted == (0..<2).flatMap { row in (0..<3).map { number(6, $0, row) } }.sorted())
    for number in wanted.reversed() { backing.come(number) }
    let response = await task.value
    #expect(response.status == 200)
    let bytes = try #require(Self.bytes(response))
    for number in wanted {
      #expect(bytes.contains(Self.tiles[number]))
    }
  }
}

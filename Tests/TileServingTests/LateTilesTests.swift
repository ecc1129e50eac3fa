import Synchronization
import Testing
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTestSupport

@testable import ZigguratTileServing

/// Tiles that are not here yet, from the site's requests to its answers.
@Suite struct LateTilesTests {
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

  private final class Told: Sendable {
    let responses = Mutex<[Response]>([])

    var waiter: Later.Waiter { Later.Waiter { response in self.responses.withLock { $0.append(response) } } }
    var response: Response? { responses.withLock { $0.first } }
    var count: Int { responses.withLock { $0.count } }
  }

  private let late = LateTiles(TileArchive(inMemory: pyramid) { tiles[$0] })
  private let library: ListRepository
  private let site: Site
  private let folder = try! TemporaryFolder()

  init() throws {
    let archive = TileArchive(
      name: "late", pyramid: Self.pyramid, format: .jpeg, generation: 0xabc, backing: late)
    library = try ListRepository(Source(archive: archive, path: folder.path), name: "late")
    site = try Site(library: library, publicFolder: nil)
  }

  private func number(_ level: Int, _ column: Int, _ row: Int) -> Int {
    Self.pyramid.index(of: TileAddress(level: level, column: column, row: row))!
  }

  private func ask(_ path: String, query: String = "", _ headers: [String: String] = [:]) -> Answer {
    site.respond(
      to: RoutedRequest(
        Request(method: "GET", rawPath: Array(path.utf8), query: Array(query.utf8)) { headers[$0] }))
  }

  private func isHit(_ path: String) -> Bool { lookup(path).isHit }

  /// Whether the tile is found without words, or how it comes.
  private func lookup(_ path: String) -> (isHit: Bool, arrival: TileArrival?) {
    Array(path.utf8).withUnsafeBytes { path in
      let query = UnsafeRawBufferPointer(start: nil, count: 0)
      switch site.tile(Route(path, query: query), path, query: query, cookies: { nil }) {
      case .found(let tile):
        tile.archive.release()
        return (true, nil)
      case .late(let arrival): return (false, arrival)
      case .other: return (false, nil)
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

  @Test func `an answer is there when its tile is, and from then on it is a hit`() throws {
    #expect(!isHit(Self.path))
    guard case .later(let later) = ask(Self.path) else { return #expect(Bool(false), "it has to wait") }
    let promised = try #require(later.promised)
    #expect(promised.status == 200 && promised["Content-Type"] == "image/jpeg")
    let told = Told()
    later.begin(told.waiter)
    #expect(told.response == nil)
    late.come(number(6, 1, 0))
    #expect(told.count == 1 && told.response?.status == 200)
    #expect(Self.bytes(told.response) == Self.tiles[number(6, 1, 0)])
    #expect(told.response?["ETag"] != nil && told.response?["ETag"] == promised["ETag"])
    #expect(told.response?["Cache-Control"] == promised["Cache-Control"])
    #expect(isHit(Self.path))
    guard case .now(let again) = ask(Self.path) else { return #expect(Bool(false), "it is here") }
    #expect(again["ETag"] == promised["ETag"])
  }

  @Test func `who can ask again for a tile does, and it is a hit`() {
    let told = Told()
    let asked = Mutex(0)
    func waiter() -> Later.Waiter {
      Later.Waiter(askAgain: { asked.withLock { $0 += 1 } }, take: told.waiter.take)
    }
    ask(Self.path).give(to: waiter())
    ask("/api/images/late/viewport.tiles", query: "width=40&height=24&scale=1").give(to: waiter())
    for number in 0..<Self.pyramid.tileCount { late.come(number) }
    #expect(asked.withLock { $0 } == 1 && isHit(Self.path))
    #expect(told.count == 1 && told.response?.status == 200)
  }

  @Test func `a late tile is fetched without words, once it is waited for, and is then a hit`() throws {
    let arrival = try #require(lookup(Self.path).arrival)
    #expect(
      lookup("/dzi/late_files/6/9_0.jpg").arrival == nil && lookup("/dzi/none_files/6/1_0.jpg").arrival == nil
    )
    #expect(late.asked.isEmpty)
    let came = Mutex(0)
    arrival.whenHere(isQuick: true) { came.withLock { $0 += 1 } }
    #expect(late.asked == [number(6, 1, 0)])
    #expect(came.withLock { $0 } == 0 && lookup(Self.path).arrival != nil)
    late.come(number(6, 1, 0))
    #expect(came.withLock { $0 } == 1 && isHit(Self.path))
  }

  @Test func `who has the tile already waits for nothing`() throws {
    guard case .later(let later) = ask(Self.path) else { return #expect(Bool(false), "it has to wait") }
    let tag = try #require(later.promised?["ETag"])
    guard case .now(let kept) = ask(Self.path, ["If-None-Match": tag]) else {
      return #expect(Bool(false), "nothing is to be waited for")
    }
    #expect(kept.status == 304)
    guard case .now(let other) = ask(Self.path, ["If-Match": "\"other\""]) else {
      return #expect(Bool(false), "nothing is to be waited for")
    }
    #expect(other.status == 412)
  }

  @Test func `a part is cut of the tile that came`() throws {
    let told = Told()
    ask(Self.path, ["Range": "bytes=1-3"]).give(to: told.waiter)
    late.come(number(6, 1, 0))
    #expect(told.response?.status == 206)
    #expect(Self.bytes(told.response) == Array(Self.tiles[number(6, 1, 0)][1...3]))
  }

  @Test(
    "what cannot be reached is 503 and no fault, what cannot be read 500 and a fault, and nobody waits for ever",
    arguments: [(LateTiles.Outcome.unreachable, 503, 0), (.unreadable, 500, 1), (.stillNotHere, 503, 0)])
  func failures(_ outcome: LateTiles.Outcome, _ status: Int, _ faults: Int) {
    let told = Told()
    ask(Self.path).give(to: told.waiter)
    late.come(number(6, 1, 0), outcome)
    #expect(told.count == 1 && told.response?.status == status)
    #expect((told.response?["Retry-After"] != nil) == (status == 503))
    #expect(library.faults.count == faults)
  }

  @Test func `a viewport's tiles are sent once the last has come, which are fetched together`() throws {
    let told = Told()
    let query = "width=40&height=24&scale=1&x=0&y=0"
    ask("/api/images/late/viewport.tiles", query: query).give(to: told.waiter)
    let wanted = late.asked.sorted()
    #expect(wanted == (0..<2).flatMap { row in (0..<3).map { number(6, $0, row) } }.sorted())
    for number in wanted.reversed() {
      #expect(told.response == nil)
      late.come(number)
    }
    #expect(told.count == 1 && told.response?.status == 200)
    let bytes = try #require(Self.bytes(told.response))
    for number in wanted {
      #expect(bytes.contains(Self.tiles[number]))
    }
  }
}

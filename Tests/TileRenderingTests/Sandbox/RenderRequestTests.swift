import Synchronization
import Testing
import TileGeometry
import TileStorage
import ZigguratTestSupport
import ZigguratTileProtocols

@testable import ZigguratTileRendering

/// Renders by somebody who has no archive, against those from the archive itself.
struct RenderRequestTests {
  /// Hands out an archive's tiles and counts them.
  private final class Keeper: Sendable {
    let archive: TileArchive
    let most: Int
    let given = Mutex<[[Int]]>([])

    init(_ archive: TileArchive, most: Int = .max) {
      self.archive = archive
      self.most = most
    }

    func tiles(_ numbers: [Int]) -> [GatheredTile] {
      let now = Array(numbers.prefix(most))
      given.withLock { $0.append(now) }
      return now.map { GatheredTile($0, of: archive) }
    }

    func render(_ task: RenderTask, by renderer: TileRenderer) throws -> [UInt8] {
      let request = RenderRequest(task, of: archive)
      let arrived = try #require(RenderRequest(request.bytes))
      #expect(arrived == request)
      return try arrived.render(by: renderer, fetching: { [self] in tiles($0) })
    }
  }

  private static func tasks(_ size: PixelSize) -> [RenderTask] {
    let whole = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
    var turned = Picture(
      region: PixelRect(x: 31, y: 17, width: 300, height: 200), size: PixelSize(width: 150, height: 99)!,
      format: .png)
    (turned.isMirrored, turned.rotation, turned.quality) = (true, 22.5, .gray)
    var coarse = Picture(region: whole, size: size)
    coarse.encodingQuality = 20
    return [
      .picture(Picture(region: whole, size: size)),
      .picture(Picture(region: whole, size: PixelSize(width: 200, height: 100)!, format: .webp)),
      .picture(turned),
      .picture(coarse),
      .viewport(
        Viewport(
          width: 120, height: 90, scale: 0.6, x: -7.5, y: 12, rotation: Rotation(degrees: 40, isFlipped: true)
        ),
        devicePixelRatio: 1.5, .png),
      .crop(
        PixelRect(x: 3, y: 5, width: 130, height: 140), level: 9,
        paddedTo: PixelSize(width: 256, height: 256)!,
        .jpg),
      .tile(TileAddress(level: 10, column: 2, row: 1), .png),
      .tile(TileAddress(level: 9, column: 0, row: 0), .jpg),
    ]
  }

  @Test("a request renders the same picture as the archive", arguments: [TileFormat.jpeg, .png])
  func same(_ format: TileFormat) throws {
    let archive = try TileRendererTests.archive(TemporaryFolder(), format: format)
    // One tile at a time, a few, and as many as are asked for.
    for most in [1, 3, Int.max] {
      let keeper = Keeper(archive, most: most)
      let (here, there) = (TileRenderer(), TileRenderer())
      for task in Self.tasks(archive.pyramid.imageSize) {
        #expect(try keeper.render(task, by: there) == here.render(task, of: archive), "\(task)")
      }
      #expect(here.cachedBytes == there.cachedBytes)
    }
  }

  @Test("tiles are joined with and without the archive, if their format allows it")
  func joining() throws {
    let archive = try TileRendererTests.archive(TemporaryFolder(), format: .jpeg)
    let part = PixelRect(x: 112, y: 16, width: 160, height: 304)
    for rotation in [Rotation.none, Rotation(degrees: 270, isFlipped: true)] {
      #expect(JoinedTiles.mayJoin(part, rotated: rotation, of: archive))
      let task = RenderTask.joined(part, rotation)
      #expect(
        try Keeper(archive).render(task, by: TileRenderer()) == TileRenderer().render(task, of: archive))
    }
    let uneven = PixelRect(x: 112, y: 16, width: 161, height: 304)
    #expect(JoinedTiles.mayJoin(uneven, rotated: .none, of: archive))
    let shifted = PixelRect(x: 113, y: 16, width: 160, height: 304)
    for (part, rotation) in [(uneven, Rotation(degrees: 90)), (shifted, .none), (part, Rotation(degrees: 1))]
    {
      #expect(!JoinedTiles.mayJoin(part, rotated: rotation, of: archive))
    }
    let png = try TileRendererTests.archive(TemporaryFolder(), format: .png)
    #expect(!JoinedTiles.mayJoin(part, rotated: .none, of: png))
    #expect(throws: RenderError.self) { try TileRenderer().render(.joined(part, .none), of: png) }
  }

  @Test("a picture has the requested encoding quality")
  func quality() throws {
    let archive = try TileRendererTests.archive(TemporaryFolder(), format: .jpeg)
    let size = archive.pyramid.imageSize
    func count(_ quality: UInt8?) throws -> Int {
      var picture = Picture(region: PixelRect(x: 0, y: 0, width: size.width, height: size.height), size: size)
      picture.encodingQuality = quality
      return try TileRenderer().render(.picture(picture), of: archive).count
    }
    #expect(try count(20) * 2 < count(95))
    #expect(try count(nil) == count(UInt8(TileRenderer.Options().quality)))
  }

  @Test("each tile is requested once, known ones together, and cached ones never")
  func asking() throws {
    let archive = try TileRendererTests.archive(TemporaryFolder(), format: .jpeg)
    let keeper = Keeper(archive)
    let renderer = TileRenderer()
    let size = archive.pyramid.imageSize
    let top = RenderTask.picture(
      Picture(region: PixelRect(x: 0, y: 0, width: size.width, height: size.height), size: size))
    _ = try keeper.render(top, by: renderer)
    let count = archive.pyramid.columns(ofLevel: 10) * archive.pyramid.rows(ofLevel: 10)
    #expect(keeper.given.withLock { $0.map(\.count) } == [count])
    _ = try keeper.render(top, by: renderer)
    #expect(keeper.given.withLock { $0.count } == 1)
  }

  @Test("an unreadable tile is an error, as from the archive")
  func unreadable() throws {
    let archive = try TileRendererTests.archive(TemporaryFolder(), format: .jpeg)
    let task = RenderTask.tile(TileAddress(level: 10, column: 1, row: 1), .png)
    let request = RenderRequest(task, of: archive)
    let error = #expect(throws: RenderError.self) {
      try request.render(by: TileRenderer(), fetching: { $0.map { _ in .unreadable } })
    }
    #expect(error?.description == "tile 10/1_1 cannot be read from its archive")
    #expect(throws: RenderError.self) { try request.render(by: TileRenderer(), fetching: { _ in [] }) }
  }

  @Test("other bytes are no request", arguments: [0, 1, 8, 64, 71, 88])
  func malformed(_ count: Int) throws {
    let archive = try TileRendererTests.archive(TemporaryFolder(), format: .jpeg)
    let bytes = RenderRequest(.tile(TileAddress(level: 10, column: 1, row: 1), .png), of: archive).bytes
    #expect(RenderRequest(bytes) != nil)
    #expect(RenderRequest(Array(bytes.prefix(count))) == nil)
    #expect(RenderRequest([UInt8](repeating: 0xff, count: bytes.count)) == nil)
  }
}

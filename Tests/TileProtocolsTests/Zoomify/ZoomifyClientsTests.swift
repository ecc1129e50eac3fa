import Testing
import TileGeometry
import ZigguratTestSupport

@testable import ZigguratTileProtocols

/// Every tile that viewers request of Zoomify, by their own arithmetic.
struct ZoomifyClientsTests {
  private static let sizes = [
    (20_000, 90), (90, 20_000), (60_000, 90), (5120, 1), (1, 5120), (1, 1), (256, 256), (257, 256),
    (513, 513), (511, 3),
    (1025, 1537), (2049, 255), (2600, 2590), (16_385, 4097), (100_001, 3), (4095, 4095),
  ]

  @Test("every tile that OpenLayers and OpenSeadragon request exists and has the right region")
  func clients() throws {
    let seed = SplitMix.runSeed
    var random = SplitMix(seed)
    var sizes = Self.sizes
    while sizes.count < 120 { sizes.append((random.side(bits: 14), random.side(bits: 1 + random.below(13)))) }
    var checked = 0
    for (width, height) in sizes {
      for tileSize in [256, 512] {
        let pyramid = Pyramid(imageSize: PixelSize(width: width, height: height)!, tileSize: tileSize)!
        let levels = ZoomifyGrid(pyramid).levels
        for asked in ZoomifyClients.tiles(width, height, tileSize: 256) {
          let path = "/zoomify/x/TileGroup\(asked.group)/\(asked.level)-\(asked.x)-\(asked.y).jpg"
          guard let place = ReadRequest(path)?.place(in: pyramid) else { continue }
          let found: (level: Int, rectangle: PixelRect)?
          switch place {
          case .stored(let tile): found = pyramid.rectangle(of: tile).map { (tile.level, $0) }
          case .crop(let rectangle, let level, let size):
            found =
              size == PixelSize(width: rectangle.width, height: rectangle.height) ? (level, rectangle) : nil
          case .picture, .notFound: found = nil
          }
          guard let found else {
            Issue.record("\(width)×\(height), seed \(seed): \(path) is \(place)")
            continue
          }
          let shift = levels.levelCount - 1 - asked.level
          // The truncated level's own tiles have its size, to the pixel.
          func isSpan(_ start: Int, _ length: Int, _ tile: Int, _ side: Int) -> Bool {
            start == tile * 256 && (start < side ? length == min(256, side - start) : length == 1)
          }
          let rectangle = found.rectangle
          let isRight =
            found.level == pyramid.topLevel - shift
            && isSpan(rectangle.x, rectangle.width, asked.x, width >> shift)
            && isSpan(rectangle.y, rectangle.height, asked.y, height >> shift)
          if !isRight { Issue.record("\(width)×\(height), seed \(seed): \(path) is \(place)") }
          checked += 1
        }
      }
    }
    #expect(checked > 5000)
  }

  @Test(
    "a tile that no viewer requests is not found", arguments: ["0-1-0", "1-0-1", "8-0-0", "7-79-0", "0-0-1"])
  func others(tile: String) throws {
    let pyramid = Pyramid(imageSize: PixelSize(width: 20_000, height: 90)!, tileSize: 256)!
    guard
      case .notFound(let refusal) = try #require(ReadRequest("/zoomify/x/TileGroup0/\(tile).jpg")).place(
        in: pyramid)
    else {
      Issue.record("\(tile) is answered")
      return
    }
    #expect(refusal.status == 404)
  }
}

import TestSupport
import Testing
import TileGeometry

@testable import TileProtocols

/// Every tile that viewers request of Zoomify, by their own arithmetic.
struct ZoomifyClientsTests {
  private struct Asked: Hashable {
    let group, level, x, y: Int
  }

  /// The tiles that OpenLayers requests with `tierSizeCalculation: 'truncated'` (ol/source/Zoomify.js, `constructor`): it
  /// numbers them by truncated levels, and lays them out by the image's extent at each level's exact scale
  /// (ol/tilegrid/TileGrid.js, `calculateTileRanges_`).
  private static func openLayers(_ imageWidth: Int, _ imageHeight: Int) -> [Asked] {
    let tileSize = 256
    func ceiled(_ a: Int, _ b: Int) -> Int { (a + b - 1) / b }
    var tiers: [(Int, Int)] = []
    var (width, height) = (imageWidth, imageHeight)
    while width > tileSize || height > tileSize {
      tiers.append((ceiled(width, tileSize), ceiled(height, tileSize)))
      width >>= 1
      height >>= 1
    }
    tiers.append((1, 1))
    tiers.reverse()
    var counts = [0]
    for i in 1..<max(1, tiers.count) where tiers.count > 1 {
      counts.append(tiers[i - 1].0 * tiers[i - 1].1 + counts[i - 1])
    }
    var asked: [Asked] = []
    for (z, tier) in tiers.enumerated() {
      let resolution = 1 << (tiers.count - 1 - z)
      for y in 0..<ceiled(imageHeight, tileSize * resolution) {
        for x in 0..<ceiled(imageWidth, tileSize * resolution) {
          asked.append(Asked(group: (x + y * tier.0 + counts[z]) / 256, level: z, x: x, y: y))
        }
      }
    }
    return asked
  }

  /// The tiles that OpenSeadragon requests (zoomifytilesource.js; `TileSource.getNumTiles` lays them out by the level's
  /// exact scale).
  private static func openSeadragon(_ imageWidth: Int, _ imageHeight: Int) -> [Asked] {
    let tileSize = 256
    var sizes = [(imageWidth, imageHeight)]
    while sizes[0].0 > tileSize || sizes[0].1 > tileSize {
      sizes.insert((sizes[0].0 / 2, sizes[0].1 / 2), at: 0)
    }
    let grid = sizes.map { (($0.0 + tileSize - 1) / tileSize, ($0.1 + tileSize - 1) / tileSize) }
    var asked: [Asked] = []
    for level in grid.indices {
      let scale = 1 / Double(1 << (grid.count - 1 - level))
      let columns = Int((Double(imageWidth) * scale / Double(tileSize)).rounded(.up))
      let rows = Int((Double(imageHeight) * scale / Double(tileSize)).rounded(.up))
      let before = grid[..<level].reduce(0) { $0 + $1.0 * $1.1 }
      for y in 0..<rows {
        for x in 0..<columns {
          asked.append(Asked(group: (before + grid[level].0 * y + x) / 256, level: level, x: x, y: y))
        }
      }
    }
    return asked
  }

  private static let sizes = [
    (20_000, 90), (90, 20_000), (60_000, 90), (5120, 1), (1, 5120), (1, 1), (256, 256), (257, 256),
    (513, 513), (511, 3),
    (1025, 1537), (2049, 255), (2600, 2590), (16_385, 4097), (100_001, 3), (4095, 4095),
  ]

  @Test("every tile that OpenLayers and OpenSeadragon request is there, and shows its place")
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
        for asked in Set(Self.openLayers(width, height) + Self.openSeadragon(width, height)) {
          let path = "/zoomify/x/TileGroup\(asked.group)/\(asked.level)-\(asked.x)-\(asked.y).jpg"
          guard let place = ReadRequest(path)?.place(in: pyramid) else { continue }
          let found: (level: Int, rectangle: PixelRect)?
          switch place {
          case .stored(let tile): found = pyramid.rectangle(of: tile).map { (tile.level, $0) }
          case .cut(let rectangle, let level, let size):
            found =
              size == PixelSize(width: rectangle.width, height: rectangle.height) ? (level, rectangle) : nil
          case .picture, .nowhere: found = nil
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
    "a tile that no viewer requests is not there", arguments: ["0-1-0", "1-0-1", "8-0-0", "7-79-0", "0-0-1"])
  func others(tile: String) throws {
    let pyramid = Pyramid(imageSize: PixelSize(width: 20_000, height: 90)!, tileSize: 256)!
    guard
      case .nowhere(let refusal) = try #require(ReadRequest("/zoomify/x/TileGroup0/\(tile).jpg")).place(
        in: pyramid)
    else {
      Issue.record("\(tile) is answered")
      return
    }
    #expect(refusal.status == 404)
  }
}

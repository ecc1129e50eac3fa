import Foundation
import Testing
import TileGeometry
import ZigguratTestSupport

@testable import ZigguratTileExport

/// The names of exported files, against the arithmetic of the clients that request them.
struct ExportedNamesTests {
  private static let maxDimension = 2100

  private static func names(_ layout: some StaticLayout) -> [String] {
    var names: [String] = []
    for level in layout.firstLevel..<layout.pyramid.levelCount {
      for row in 0..<layout.rows(ofLevel: level) {
        for column in 0..<layout.columns(ofLevel: level) {
          names += layout.names(of: TileAddress(level: level, column: column, row: row))
        }
      }
    }
    return names
  }

  private static func ceiled(_ a: Int, _ b: Int) -> Int { (a + b - 1) / b }

  // MARK: IIIF

  /// Returns the requests of OpenSeadragon for an `info.json` with one tile size and powers of two as scale factors
  /// (iiiftilesource.js, `getTileUrl`; TileSource, `getNumTiles`).
  private static func openSeadragonTiles(_ width: Int, _ height: Int, _ side: Int, factors: [Int]) -> [String]
  {
    factors.flatMap { factor in
      let (levelWidth, levelHeight) = (ceiled(width, factor), ceiled(height, factor))
      let (columns, rows) = (ceiled(width, side * factor), ceiled(height, side * factor))
      return (0..<rows).flatMap { y in
        (0..<columns).map { x in
          if levelWidth < side, levelHeight < side {
            return levelWidth == width && levelHeight == height
              ? "full/max/0/default.jpg" : "full/\(levelWidth),\(levelHeight)/0/default.jpg"
          }
          let (left, top) = (x * side * factor, y * side * factor)
          let (across, down) = (min(side * factor, width - left), min(side * factor, height - top))
          let (sizeWidth, sizeHeight) = (min(side, levelWidth - x * side), min(side, levelHeight - y * side))
          let isWhole = x == 0 && y == 0 && across == width && down == height
          let region = isWhole ? "full" : "\(left),\(top),\(across),\(down)"
          let size = sizeWidth == width && sizeHeight == height ? "max" : "\(sizeWidth),\(sizeHeight)"
          return "\(region)/\(size)/0/default.jpg"
        }
      }
    }
  }

  /// The tiles of the specification (IIIF Image API 3.0, implementation notes, section 5), which also names the whole
  /// image by its numbers.
  private static func canonicalTiles(_ width: Int, _ height: Int, _ side: Int, factors: [Int]) -> [String] {
    factors.flatMap { factor in
      (0..<ceiled(height, side * factor)).flatMap { row in
        (0..<ceiled(width, side * factor)).map { column in
          let (x, y) = (column * side * factor, row * side * factor)
          let (across, down) = (min(side * factor, width - x), min(side * factor, height - y))
          return
            "\(x),\(y),\(across),\(down)/\(ceiled(across, factor)),\(ceiled(down, factor))/0/default.jpg"
        }
      }
    }
  }

  private struct Info: Decodable {
    struct Size: Decodable {
      let width, height: Int
    }

    struct Tiles: Decodable {
      let width: Int
      let scaleFactors: [Int]
    }

    let sizes: [Size]
    let tiles: [Tiles]
  }

  /// Sides whose last tile is one level pixel at two scale factors: the start, length and size of such a tile are the same.
  ///
  /// Two tiles of different scale factors have the same name only if both sides are such.
  private static func repeating(_ tileSize: Int) throws -> [Int] {
    try (1...maxDimension).filter { side in
      var spans: [[Int]: Int] = [:]
      var factor = 1
      while true {
        for index in 0..<ceiled(side, tileSize * factor) {
          let start = index * tileSize * factor
          let length = min(tileSize * factor, side - start)
          spans[[start, length, ceiled(length, factor)], default: 0] += 1
        }
        if side <= tileSize * factor { break }
        factor *= 2
      }
      let several = spans.filter { $0.value > 1 }
      try #require(several.allSatisfy { $0.key[2] == 1 })
      return !several.isEmpty
    }
  }

  @Test("IIIF names are unique and are all that clients request", arguments: [256, 512])
  func iiif(tileSize: Int) throws {
    let seed = SplitMix.runSeed
    var random = SplitMix(seed)
    let repeating = try Self.repeating(tileSize)
    #expect(repeating.contains(1025))
    let edges = [
      1, 2, tileSize - 1, tileSize, tileSize + 1, 2 * tileSize - 1, 2 * tileSize, 2 * tileSize + 2,
    ]
    let sides =
      Set(repeating + edges + [1535, 1537, 2047, 2048, 2050])
      .union((0..<8).map { _ in 1 + random.below(Self.maxDimension) })
    var pairs = sides.flatMap { width in sides.map { (width, $0) } }
    pairs += [(3073, 3073), (4097, 4097), (4097, 2049), (6145, 1)]
    for (width, height) in pairs {
      let pyramid = Pyramid(imageSize: PixelSize(width: width, height: height)!, tileSize: tileSize)!
      let layout = IIIFLayout(pyramid: pyramid, format: .jpeg, id: "https://example.org/x", scale: nil)
      let info = try JSONDecoder().decode(Info.self, from: Data(layout.documents[0].text.utf8))
      let names = Self.names(layout)
      let unique = Set(names)
      if unique.count != names.count { Issue.record("\(width)×\(height): a name is used twice") }
      let tiles = info.tiles[0]
      var asked = Set(Self.openSeadragonTiles(width, height, tiles.width, factors: tiles.scaleFactors))
      asked.formUnion(Self.canonicalTiles(width, height, tiles.width, factors: tiles.scaleFactors))
      for size in info.sizes { asked.insert("full/\(size.width),\(size.height)/0/default.jpg") }
      let missing = asked.subtracting(unique)
      if let name = missing.first { Issue.record("\(width)×\(height), seed \(seed): no \(name)") }
    }
  }

  // MARK: Zoomify

  @Test("Zoomify names are the names that OpenSeadragon and OpenLayers request", arguments: [256, 512])
  func zoomify(tileSize: Int) throws {
    let seed = SplitMix.runSeed
    var random = SplitMix(seed)
    var sizes = [
      (513, 256), (513, 513), (1023, 1023), (20_000, 90), (5120, 1), (1, 5120), (1, 1), (256, 257), (511, 3),
      (1025, 1537), (2049, 255), (4095, 4095), (8191, 8193),
      // Tile 256 is in two folders, by whether the coarsest level counts.
      (131_100, 90),
    ]
    while sizes.count < 100 { sizes.append((1 + random.below(8191), 1 + random.below(8191))) }
    for (width, height) in sizes {
      let pyramid = Pyramid(imageSize: PixelSize(width: width, height: height)!, tileSize: tileSize)!
      let layout = ZoomifyLayout(pyramid: pyramid)
      let asked = ZoomifyClients.tiles(width, height, tileSize: tileSize)
      let expected = asked.map { "TileGroup\($0.group)/\($0.level)-\($0.x)-\($0.y).jpg" }
      if Self.names(layout).sorted() != expected.sorted() {
        Issue.record("\(width)×\(height), seed \(seed): other names")
      }
      let levels = ZoomifyClients.levelCount(width, height, tileSize: tileSize)
      #expect(layout.pyramid.levelCount - layout.firstLevel == levels)
      // Zoomify's own count has the tiles of the truncated levels alone.
      let count = (0..<levels).reduce(0) {
        $0 + Self.ceiled(width >> $1, tileSize) * Self.ceiled(height >> $1, tileSize)
      }
      #expect(layout.documents[0].text.contains("NUMTILES=\"\(count)\""))
      for level in layout.firstLevel..<pyramid.levelCount {
        let shift = pyramid.shift(ofLevel: level)
        for row in 0..<layout.rows(ofLevel: level) {
          for column in 0..<layout.columns(ofLevel: level) {
            let tile = TileAddress(level: level, column: column, row: row)
            let place = try #require(layout.rectangle(of: tile))
            #expect(place.x == column * tileSize && place.y == row * tileSize)
            let (right, bottom) = (width >> shift, height >> shift)
            #expect(place.width == (place.x < right ? min(tileSize, right - place.x) : 1))
            #expect(place.height == (place.y < bottom ? min(tileSize, bottom - place.y) : 1))
          }
        }
      }
    }
  }
}

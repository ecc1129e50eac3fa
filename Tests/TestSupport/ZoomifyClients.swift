/// The tiles that viewers request of Zoomify, by their own arithmetic.
public enum ZoomifyClients {
  /// A tile by the numbers of its name.
  public struct Asked: Hashable, Sendable {
    public let group, level, x, y: Int
  }

  /// Every tile that OpenLayers or OpenSeadragon requests of an image.
  public static func tiles(_ imageWidth: Int, _ imageHeight: Int, tileSize: Int) -> Set<Asked> {
    Set(
      openLayers(imageWidth, imageHeight, tileSize: tileSize)
        + openSeadragon(imageWidth, imageHeight, tileSize: tileSize))
  }

  /// The number of levels of an image: OpenSeadragon halves it, rounding down, while a side is longer than a tile.
  public static func levelCount(_ imageWidth: Int, _ imageHeight: Int, tileSize: Int) -> Int {
    sizes(imageWidth, imageHeight, tileSize: tileSize).count
  }

  /// The tiles that OpenLayers requests with `tierSizeCalculation: 'truncated'` (ol/source/Zoomify.js, `constructor`): it
  /// numbers them by truncated levels, and lays them out by the image's extent at each level's exact scale
  /// (ol/tilegrid/TileGrid.js, `calculateTileRanges_`).
  static func openLayers(_ imageWidth: Int, _ imageHeight: Int, tileSize: Int) -> [Asked] {
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
  static func openSeadragon(_ imageWidth: Int, _ imageHeight: Int, tileSize: Int) -> [Asked] {
    let grid = sizes(imageWidth, imageHeight, tileSize: tileSize).map {
      (($0.0 + tileSize - 1) / tileSize, ($0.1 + tileSize - 1) / tileSize)
    }
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

  /// The sizes of the levels, the coarsest first (zoomifytilesource.js, constructor).
  private static func sizes(_ imageWidth: Int, _ imageHeight: Int, tileSize: Int) -> [(Int, Int)] {
    var sizes = [(imageWidth, imageHeight)]
    while sizes[0].0 > tileSize || sizes[0].1 > tileSize {
      sizes.insert((sizes[0].0 / 2, sizes[0].1 / 2), at: 0)
    }
    return sizes
  }
}

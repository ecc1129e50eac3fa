import Testing
import TileGeometry
import ZigguratTestSupport

/// A random window onto a random image.
private struct Scene: CustomStringConvertible {
  var image: PixelSize
  var tileSize: Int
  var viewport: Viewport
  var degrees: Double
  var isFlipped: Bool
  var ratio: Double
  var margin: Int

  init(_ random: inout SplitMix) {
    image = PixelSize(width: random.side(bits: 31), height: random.side(bits: 31))!
    tileSize = random.pick([512, 512, 256, 1024, 254, 100, 77])
    degrees =
      switch random.below(4) {
      case 0: 0
      case 1: Double(random.below(8)) * 90 - 360
      // Nearly straight: where slopes are steepest.
      case 2: Double(random.below(5)) * 90 + random.number(-1, 1) * random.pick([1e-3, 1e-6, 1e-9])
      default: random.number(-400, 400)
      }
    isFlipped = random.sometimes(3)
    let rotation = Rotation(degrees: degrees, isFlipped: isFlipped)
    let (width, height) = (random.number(1, 1200).rounded(), random.number(1, 900).rounded())
    ratio = random.pick([1, 1, 1.5, 2, 3])
    margin = random.sometimes(6) ? 1 + random.below(3) : 0
    var scale = Double(sign: .plus, exponent: -random.below(33), significand: random.number(1, 2))
    if random.sometimes(4) { scale = scale.binade }
    if random.sometimes(8) { scale *= 200 }
    let (imageWidth, imageHeight) = (Double(image.width), Double(image.height))
    if random.sometimes(5) {
      let fit = random.pick(Fit.allCases)
      viewport = Viewport(fitting: image, fit, width: width, height: height, rotation: rotation)
    } else {
      viewport = Viewport(width: width, height: height, scale: scale, x: 0, y: 0, rotation: rotation)
      switch random.below(4) {
      case 0:
        let center = Point(x: random.number(0, imageWidth), y: random.number(0, imageHeight))
        viewport = viewport.centered(on: center)
      case 1:
        viewport.x = random.number(-width, imageWidth * scale).rounded()
        viewport.y = random.number(-height, imageHeight * scale).rounded()
      case 2:
        // About the image's edges, where little or nothing is seen.
        viewport.x = random.pick([-width, imageWidth * scale]) + random.number(-1, 1) * width
        viewport.y = random.pick([-height, imageHeight * scale]) + random.number(-1, 1) * height
      default:
        viewport.x = random.number(-2 * width, imageWidth * scale + width)
        viewport.y = random.number(-2 * height, imageHeight * scale + height)
      }
    }
    if random.sometimes(5) { viewport = viewport.clamped(to: image) }
  }

  var description: String {
    "\(image.width)×\(image.height), tiles of \(tileSize), \(degrees)°\(isFlipped ? " mirrored" : ""), "
      + "dpr \(ratio), margin \(margin), window \(viewport.width)×\(viewport.height) "
      + "at \(viewport.x), \(viewport.y), scale \(viewport.scale)"
  }
}

struct CoverageTests {
  private static let blocks = 20
  private static let scenesPerBlock = 1000

  @Test(
    "20,000 random windows have exactly the tiles that they intersect",
    arguments: 0..<blocks)
  func againstBruteForce(block: Int) {
    let seed = SplitMix.runSeed &+ UInt64(block)
    var random = SplitMix(seed)
    var ties = 0
    var tiles = 0
    for number in 0..<Self.scenesPerBlock {
      let scene = Scene(&random)
      let (errors, tied, count) = Self.errors(scene)
      (ties, tiles) = (ties + tied, tiles + count)
      if !errors.isEmpty {
        let place = "SEED=\(SplitMix.runSeed), block \(block), scene \(number): \(scene)"
        Issue.record("\(place): \(errors.prefix(5).joined(separator: "; "))")
        return
      }
    }
    // Few enough that leaving them open leaves nothing open.
    #expect(ties * 200 < tiles, "\(ties) ties among \(tiles) tiles, seed \(SplitMix.runSeed)")
  }

  /// Returns the errors of a scene's coverage, the number of ties, and the number of tiles that were checked.
  private static func errors(_ scene: Scene) -> (errors: [String], ties: Int, looked: Int) {
    let oracle = CoverageOracle(
      image: scene.image, tileSize: scene.tileSize, viewport: scene.viewport, degrees: scene.degrees,
      isFlipped: scene.isFlipped)
    let pyramid = Pyramid(imageSize: scene.image, tileSize: scene.tileSize)!
    let coverage = Coverage(
      pyramid: pyramid, viewport: scene.viewport, devicePixelRatio: scene.ratio)
    let level = coverage.level
    if level != oracle.level(forScale: scene.viewport.scale * scene.ratio) {
      return (["level \(level)"], 0, 1)
    }
    var errors: [String] = []
    let tiles = coverage.tiles(margin: scene.margin)
    if coverage.count(margin: scene.margin) != tiles.count { errors.append("count differs from the tiles") }
    let core = tiles.filter { !$0.isPrefetch }
    errors += misplaced(tiles, scene, oracle) + unsorted(core, oracle)
    let ring = Set(tiles.filter(\.isPrefetch).map(\.address))
    if ring != Self.ring(around: core, scene.margin, pyramid) { errors.append("another ring of margin") }
    var (ties, looked) = (0, 0)
    func compare(_ tiles: [CoveredTile], level: Int) {
      let answer = Set(tiles.map(\.address))
      if answer.count != tiles.count { errors.append("a tile comes twice") }
      var found = 0
      let near = oracle.candidates(level)
      for row in near.rows {
        for column in near.columns {
          looked += 1
          let address = TileAddress(level: level, column: column, row: row)
          let isIn = answer.contains(address)
          if isIn { found += 1 }
          switch oracle.verdict(level, column, row) {
          case .tie: ties += 1
          case .covered: if !isIn { errors.append("\(address) is missing") }
          case .free: if isIn { errors.append("\(address) is spare") }
          }
        }
      }
      if found != answer.count { errors.append("tiles of level \(level) that are nowhere near") }
    }
    compare(core, level: level)
    let fallback = coverage.fallbackTiles()
    if fallback.map(\.address.level) != fallback.map(\.address.level).sorted() {
      errors.append("not coarsest first")
    }
    for (level, tiles) in Dictionary(grouping: fallback, by: \.address.level) { compare(tiles, level: level) }
    if !core.isEmpty, Set(fallback.map(\.address.level)).count != level {
      errors.append("a level is missing")
    }
    errors += wrongVisible(coverage.visible, scene, oracle)
    return (errors, ties, looked)
  }

  /// Returns the tiles whose source or target does not match the level and the window.
  private static func misplaced(_ tiles: [CoveredTile], _ scene: Scene, _ oracle: CoverageOracle) -> [String]
  {
    tiles.compactMap { tile in
      let (x, y) = oracle.tileRange(tile.address.level, tile.address.column, tile.address.row)
      let (width, height) = oracle.levels[tile.address.level]
      let (left, top) = (tile.address.column * scene.tileSize, tile.address.row * scene.tileSize)
      let source = PixelRect(
        x: left, y: top, width: min(scene.tileSize, width - left), height: min(scene.tileSize, height - top))
      let scale = Wide(scene.viewport.scale)
      let wanted = [
        x.lowerBound * scale - Wide(scene.viewport.x), y.lowerBound * scale - Wide(scene.viewport.y),
        (x.upperBound - x.lowerBound) * scale, (y.upperBound - y.lowerBound) * scale,
      ]
      let target = [tile.target.x, tile.target.y, tile.target.width, tile.target.height]
      let near = zip(wanted, target).allSatisfy { ($0 - Wide($1)).magnitude <= oracle.tolerance * scale }
      return tile.source == source && near ? nil : "\(tile.address) is misplaced"
    }
  }

  private static func unsorted(_ tiles: [CoveredTile], _ oracle: CoverageOracle) -> [String] {
    let distances = tiles.map {
      oracle.distance($0.address.level, $0.address.column, $0.address.row)
    }
    // The distances are squares; their roots are as uncertain as the points between which they are.
    return zip(distances, distances.dropFirst()).contains {
      $0.squareRoot() > $1.squareRoot() * (1 + 1e-9) + 2 * oracle.tolerance
    }
      ? ["not nearest first"] : []
  }

  private static func ring(around core: [CoveredTile], _ margin: Int, _ pyramid: Pyramid) -> Set<TileAddress>
  {
    guard margin > 0 else { return [] }
    let own = Set(core.map(\.address))
    var ring: Set<TileAddress> = []
    for tile in own {
      for row in tile.row - margin...tile.row + margin {
        for column in tile.column - margin...tile.column + margin {
          let near = TileAddress(level: tile.level, column: column, row: row)
          if pyramid.contains(near), !own.contains(near) { ring.insert(near) }
        }
      }
    }
    return ring
  }

  private static func wrongVisible(_ visible: Rect?, _ scene: Scene, _ oracle: CoverageOracle) -> [String] {
    let wanted = oracle.visible
    let error = ["visible \(String(describing: visible)), not \(String(describing: wanted))"]
    guard let visible, let wanted else {
      // Either side may take a sliver for nothing.
      let breadth =
        visible.map { Wide(min($0.width, $0.height)) }
        ?? wanted.map { min($0.x.upperBound - $0.x.lowerBound, $0.y.upperBound - $0.y.lowerBound) } ?? 0
      return breadth <= oracle.tolerance * 4 ? [] : error
    }
    // Where an edge of the window all but runs along one of the image, rounding moves their crossing far.
    let (sine, cosine) = wideSineCosine(degrees: scene.degrees)
    let slope = min(sine.magnitude, cosine.magnitude)
    let tolerance = oracle.tolerance * (slope == 0 ? 1 : 1 + 1e-2 / slope)
    let pairs = [
      (visible.x, wanted.x.lowerBound), (visible.y, wanted.y.lowerBound),
      (visible.x + visible.width, wanted.x.upperBound), (visible.y + visible.height, wanted.y.upperBound),
    ]
    return pairs.allSatisfy { (Wide($0.0) - $0.1).magnitude <= tolerance } ? [] : error
  }
}

import Testing
import TileGeometry
import ZigguratTestSupport

/// Values from outside: not a number, infinite, huge, tiny, zero, negative. Nothing traps, results are finite, memory and
/// time are bounded.
struct ExtremeValueTests {
  private static let numbers: [Double] = [
    0, -0.0, 1, -1, 0.5, 90, 359.999, 1e-300, -1e-300, .leastNonzeroMagnitude, 1e9, -1e9, 1e18, 9.3e18,
    -9.3e18, 1e77, 1e300,
    -1e300, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .infinity, -.infinity, .nan, 300, 200, 512,
  ]
  private static let integers = [
    0, 1, -1, 2, 3, 512, 1 << 31, 1 << 53, (1 << 62) + 1, .max, .max - 1, .min, .min + 1,
  ]

  private static func isValid(_ viewport: Viewport) -> Bool {
    Viewport.sides.contains(viewport.width) && Viewport.sides.contains(viewport.height)
      && Viewport.scales.contains(viewport.scale) && Viewport.offsets.contains(viewport.x)
      && Viewport.offsets.contains(viewport.y) && (0..<360).contains(viewport.rotation.degrees)
  }

  @Test("every function of a viewport accepts every value", arguments: 0..<10)
  func viewports(block: Int) {
    var random = SplitMix(SplitMix.runSeed &+ UInt64(block))
    func number() -> Double { random.pick(Self.numbers) }
    func point() -> Point { Point(x: number(), y: number()) }
    let images = Self.integers.flatMap { width in
      Self.integers.compactMap { PixelSize(width: width, height: $0) }
    }
    for _ in 0..<3000 {
      let image = random.pick(images)
      let rotation = Rotation(degrees: number(), isFlipped: random.sometimes(2))
      let insets = Insets(top: number(), left: number(), bottom: number(), right: number())
      var viewport = Viewport(
        width: number(), height: number(), scale: number(), x: number(), y: number(), rotation: rotation)
      #expect(Self.isValid(viewport))
      let before = viewport
      switch random.below(5) {
      case 0: viewport.width = number()
      case 1: viewport.height = number()
      case 2: viewport.scale = number()
      case 3: viewport.x = number()
      default: viewport.y = number()
      }
      #expect(Self.isValid(viewport), "\(before)")
      let limits = ScaleLimits(
        containing: image, width: number(), height: number(), rotation: rotation, insets: insets,
        magnification: number())
      #expect(limits.minimum > 0 && limits.minimum <= limits.maximum && limits.maximum.isFinite)
      #expect((limits.minimum...limits.maximum).contains(limits.limit(number())))
      let fit = random.pick(Fit.allCases)
      let anchor = random.sometimes(2) ? point() : nil
      let offsets = viewport.permittedOffsets(on: image, insets: insets)
      #expect(offsets.contains(offsets.nearest(to: point())))
      let results = [
        viewport.scaled(to: number(), about: anchor), viewport.centered(on: point()),
        viewport.placing(point(), at: point()), viewport.clamped(to: image, insets: insets),
        viewport.resized(width: number(), height: number(), insets: insets),
        viewport.zoomed(
          to: Rect(x: number(), y: number(), width: number(), height: number()),
          limits: random.sometimes(2) ? limits : nil, insets: insets),
        viewport.settled(on: image, limits: limits, insets: insets, about: anchor),
        viewport.rubberBanded(
          on: image, limits: limits, insets: insets, about: anchor, isZooming: random.sometimes(2)),
        viewport.withoutRubberBand(on: image, limits: limits, insets: insets, about: anchor),
        Viewport(fitting: image, fit, width: number(), height: number(), rotation: rotation, insets: insets),
      ]
      for (index, result) in results.enumerated() {
        #expect(
          Self.isValid(result), "result \(index) of \(viewport), seed \(SplitMix.runSeed), block \(block)")
      }
      _ = viewport.imagePoint(ofViewport: point())
      _ = viewport.viewportPoint(ofImage: point())
      #expect(
        Viewport.scales.contains(
          Viewport.scale(fit, image: image, width: number(), height: number(), rotation: rotation)))
    }
  }

  @Test("every function of a pyramid and a coverage accepts every value, within its limit", arguments: 0..<5)
  func coverages(block: Int) {
    var random = SplitMix(SplitMix.runSeed &+ UInt64(block))
    func number() -> Double { random.pick(Self.numbers) }
    func integer() -> Int { random.pick(Self.integers) }
    var previous: Coverage?
    var pyramids: [Pyramid] = []
    while pyramids.count < 60 {
      guard let size = PixelSize(width: random.side(bits: 62), height: integer()),
        let pyramid = Pyramid(
          imageSize: size, tileSize: integer(), overlap: random.pick([0, 0, 1, integer()]))
      else { continue }
      pyramids.append(pyramid)
      let address = TileAddress(level: integer(), column: integer(), row: integer())
      #expect(pyramid.contains(address) == (pyramid.rectangle(of: address) != nil))
      #expect(pyramid.contains(address) == (pyramid.index(of: address) != nil))
      _ = pyramid.address(at: integer())
      let level = integer()
      #expect((0...pyramid.topLevel).contains(pyramid.shift(ofLevel: level)))
      #expect(pyramid.columns(ofLevel: level) >= 1 && pyramid.rows(ofLevel: level) >= 1)
      #expect((0...pyramid.tileCount).contains(pyramid.firstIndex(ofLevel: level)))
      #expect((0...1).contains(pyramid.scale(ofLevel: level)))
      #expect((0...pyramid.topLevel).contains(pyramid.level(forScale: number())))
      #expect(Pyramid.levelCount(ofLongerSide: integer()) >= 1)
      #expect(Pyramid.halved(integer(), times: integer()) >= 1)
      var viewport = Viewport(
        width: number(), height: number(), scale: number(), x: number(), y: number(),
        rotation: Rotation(degrees: number(), isFlipped: random.sometimes(2)))
      if random.sometimes(2) {
        viewport = Viewport(
          fitting: size, random.pick(Fit.allCases), width: number(), height: number(),
          rotation: viewport.rotation)
      }
      let coverage = Coverage(
        pyramid: pyramid, viewport: viewport, devicePixelRatio: number(), coarsest: integer())
      let (margin, limit) = (random.pick([0, 0, 1, 2, integer()]), random.pick([0, -1, .min, 1, 7, 1000]))
      let tiles = coverage.tiles(margin: margin, limit: limit)
      #expect(tiles.count <= max(limit, 0))
      #expect(tiles.allSatisfy { pyramid.rectangle(of: $0.address) == $0.source })
      #expect(Set(tiles.map(\.address)).count == tiles.count)
      if coverage.visible != nil, limit > 0, coverage.count() > 0 {
        #expect(!tiles.isEmpty, "\(coverage), limit \(limit), seed \(SplitMix.runSeed), block \(block)")
      }
      #expect(coverage.fallbackTiles(limit: limit).count <= max(limit, 0))
      #expect(coverage.count(margin: margin) >= coverage.count())
      _ = coverage.overviewTile
      let changes = coverage.changes(from: previous, margin: margin, limit: limit)
      #expect(changes.added.count + changes.kept.count == tiles.count)
      #expect(changes.dropped.count <= max(limit, 0))
      previous = coverage
    }
  }

  @Test("above the limit, the tiles nearest the viewport's centre are returned, without rings")
  func limit() throws {
    let pyramid = try #require(Pyramid(imageSize: PixelSize(width: 5000, height: 4000)!, tileSize: 10))
    let viewport = Viewport(width: 1000, height: 1000, scale: 1, x: 2003, y: 1007)
    let coverage = Coverage(pyramid: pyramid, viewport: viewport)
    let all = coverage.tiles()
    #expect(all.count == 101 * 101)
    #expect(coverage.tiles(margin: 1, limit: all.count) == all)
    #expect(coverage.tiles(margin: 1, limit: 103 * 103).count == 103 * 103)
    let some = coverage.tiles(limit: 100)
    #expect(some.count == 100)
    // Ten columns and rows about the tile in which the centre (2503, 1507) lies.
    #expect(Set(some.map(\.address.column)) == Set(245..<255))
    #expect(Set(some.map(\.address.row)) == Set(145..<155))
    // A strip keeps its length as far as the limit goes.
    let strip = Viewport(width: 1000, height: 5, scale: 1, x: 2003, y: 1002)
    #expect(Coverage(pyramid: pyramid, viewport: strip).tiles(limit: 100).count == 100)
  }

  @Test("a remainder by 360 is exact for every angle")
  func angles() {
    var random = SplitMix(SplitMix.runSeed)
    for _ in 0..<20_000 {
      let angle = Double(bitPattern: random.next())
      guard angle.isFinite else {
        #expect(Rotation(degrees: angle) == .none)
        continue
      }
      var wanted = angle.truncatingRemainder(dividingBy: 360)
      if wanted < 0 { wanted += 360 }
      if wanted >= 360 { wanted = 0 }
      #expect(Rotation(degrees: angle).degrees == wanted, "\(angle), seed \(SplitMix.runSeed)")
    }
    for quarter in -9...9 {
      #expect(Rotation(degrees: Double(quarter) * 90).degrees == Double(((quarter % 4) + 4) % 4) * 90)
    }
  }
}

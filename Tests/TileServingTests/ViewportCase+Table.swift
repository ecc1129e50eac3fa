import ZigguratTestSupport

/// The questions of the fixture file; the answers are computed.
extension ViewportCase {
  typealias Subresource = (image: ImageShape, query: Query)

  static var questions: [Subresource] {
    fits + levels + edges + positions + limits + turns + surroundings + drawn(count: 140, seed: 20_240_229)
  }

  private static func image(_ width: Int, _ height: Int, _ tileSize: Int = 512) -> ImageShape {
    ImageShape(width: width, height: height, tileSize: tileSize)
  }

  private static let shapes = [
    image(1, 1), image(1, 5000), image(513, 511), image(5120, 2880), image(1009, 2003, 254),
    image(1 << 31, 1 << 31), image(1 << 31, 1, 256),
  ]

  private static var fits: [Subresource] {
    shapes.flatMap { shape in
      ["contain", "cover", "width", "none"].map { fit in (shape, Query(300, 200) { $0.fit = fit }) }
        + [(shape, Query(200, 300))]
    }
  }

  /// Scales at, below and above each power of two, where the level changes.
  private static var levels: [Subresource] {
    let photo = image(5120, 2880)
    var questions: [Subresource] = []
    for exponent in -13...2 {
      let exact = exponent < 0 ? 1 / Double(1 << -exponent) : Double(1 << exponent)
      for scale in [exact.nextDown, exact, exact.nextUp] {
        questions.append((photo, Query(64, 48) { ($0.scale, $0.x, $0.y) = (scale, 1, 1) }))
      }
    }
    for ratio in [0.5, 1, 1.25, 1.5, 2, 3] {
      questions.append((photo, Query(160, 90) { ($0.scale, $0.x, $0.y, $0.dpr) = (0.25, 300, 200, ratio) }))
    }
    return questions
  }

  /// Windows whose edges lie on tile edges and on the image's, and next to them.
  private static var edges: [Subresource] {
    let grid = image(2048, 1536)
    var questions: [Subresource] = []
    for x in [-200, -199.5, 311, 312, 312.5, 512, 1847.75, 1848, 2047.5, 2048] {
      questions.append((grid, Query(200, 100) { ($0.scale, $0.x, $0.y) = (1, x, 512) }))
    }
    for y in [-100, -99.75, 411.5, 412, 512, 1535.5, 1536, 1e9] {
      questions.append((grid, Query(200, 100) { ($0.scale, $0.x, $0.y) = (1, 512, y) }))
    }
    for scale in [0.5, 0.25, 0.75, 0.3] {
      let query = Query(256 * scale, 256 * scale) {
        ($0.scale, $0.x, $0.y) = (scale, 512 * scale, 1024 * scale)
      }
      questions.append((grid, query))
    }
    return questions
  }

  private static var positions: [Subresource] {
    let photo = image(5120, 2880)
    return [
      (photo, Query(300, 200) { $0.scale = 1 }),
      (photo, Query(300, 200) { ($0.scale, $0.x) = (1, 700) }),
      (photo, Query(300, 200) { ($0.scale, $0.y) = (1, 700) }),
      (photo, Query(300, 200) { ($0.scale, $0.fit) = (1, "contain") }),
      (photo, Query(300, 200) { ($0.fit, $0.x) = ("cover", 10) }),
      (photo, Query(300, 200) { $0.center = [0, 0] }),
      (photo, Query(300, 200) { ($0.scale, $0.center) = (2, [5120, 2880]) }),
      (photo, Query(300, 200) { ($0.scale, $0.center) = (0.5, [-9000, 1e7]) }),
      (photo, Query(300, 200) { ($0.scale, $0.x, $0.y, $0.zoom) = (0.5, 600, 400, 2) }),
      (photo, Query(300, 200) { ($0.scale, $0.x, $0.y, $0.zoom, $0.anchor) = (0.5, 600, 400, 2, [0, 0]) }),
      (
        photo,
        Query(300, 200) { ($0.scale, $0.x, $0.y, $0.zoom, $0.anchor) = (0.5, 600, 400, 0.7, [299, 1]) }
      ),
      (photo, Query(300, 200) { ($0.fit, $0.zoom, $0.anchor) = ("contain", 3, [250, 10]) }),
      (photo, Query(300, 200) { ($0.fit, $0.zoom, $0.anchor) = ("width", 0.01, [-50, 900]) }),
      (photo, Query(300, 200) { $0.anchor = [10, 10] }),
      (photo, Query(300, 200) { ($0.scale, $0.clamp) = (0.01, true) }),
      (photo, Query(300, 200) { ($0.scale, $0.x, $0.y, $0.clamp) = (1, -50, 9999, true) }),
      (photo, Query(300, 200) { ($0.scale, $0.x, $0.y, $0.clamp) = (0.06, 3, -60, true) }),
      (photo, Query(300, 200) { ($0.fit, $0.clamp) = ("none", true) }),
      (image(1, 1), Query(300, 200) { ($0.scale, $0.clamp) = (1000, true) }),
      (image(1, 1), Query(300, 200) { ($0.scale, $0.x, $0.y) = (5000, 2500, 2500) }),
    ]
  }

  private static var limits: [Subresource] {
    let photo = image(5120, 2880)
    return [
      (photo, Query(300, 200) { ($0.minScale, $0.maxScale) = (0.1, 2) }),
      (photo, Query(300, 200) { ($0.scale, $0.maxScale) = (8, 2) }),
      (photo, Query(300, 200) { ($0.scale, $0.minScale) = (0.001, 0.02) }),
      (photo, Query(300, 200) { ($0.scale, $0.x, $0.y, $0.maxScale) = (4, 800, 900, 1) }),
      (
        photo,
        Query(300, 200) { ($0.scale, $0.x, $0.y, $0.maxScale, $0.anchor) = (4, 800, 900, 1, [20, 30]) }
      ),
      (photo, Query(300, 200) { ($0.scale, $0.x, $0.y, $0.zoom) = (1, 800, 900, 1000) }),
      (photo, Query(300, 200) { ($0.scale, $0.x, $0.y, $0.zoom) = (1, 800, 900, 1e-6) }),
      (photo, Query(300, 200) { ($0.scale, $0.zoom) = (1e-3, 1.5) }),
      (photo, Query(300, 200) { ($0.scale, $0.zoom) = (1e-3, 0.9) }),
      (photo, Query(300, 200) { ($0.scale, $0.zoom) = (30, 1.01) }),
      (photo, Query(300, 200) { ($0.scale, $0.zoom) = (30, 0.99) }),
      (photo, Query(300, 200) { ($0.scale, $0.maxScale, $0.zoom) = (1e-3, 2, 0.9) }),
      (photo, Query(300, 200) { $0.minScale = 5 }),
      (photo, Query(300, 200) { $0.maxScale = 0.001 }),
      (photo, Query(300, 200) { ($0.fit, $0.maxScale) = ("none", 0.5) }),
      (photo, Query(300, 200) { ($0.scale, $0.clamp, $0.x) = (30, true, 12_345) }),
      (photo, Query(300, 200) { ($0.minScale, $0.maxScale, $0.zoom) = (0.25, 0.25, 2) }),
      (image(2, 3), Query(300, 200) { $0.zoom = 100 }),
    ]
  }

  private static var turns: [Subresource] {
    var questions: [Subresource] = []
    for degrees in [0, 30, 45, 90, 123.456, 180, 270, -90, 359.999, 720] {
      for flip in [false, true] {
        let query = Query(320, 160) {
          ($0.scale, $0.center, $0.rotation, $0.flip) = (0.5, [600, 500], degrees, flip)
        }
        questions.append((image(1201, 901, 256), query))
      }
    }
    for degrees in [15.0, 90, 200] {
      questions += [
        (image(1201, 901, 256), Query(320, 160) { $0.rotation = degrees }),
        (image(1201, 901, 256), Query(320, 160) { ($0.rotation, $0.fit) = (degrees, "cover") }),
        (
          image(1201, 901, 256), Query(320, 160) { ($0.rotation, $0.fit, $0.flip) = (degrees, "width", true) }
        ),
        (
          image(1201, 901, 256),
          Query(320, 160) { ($0.rotation, $0.scale, $0.x, $0.y, $0.clamp) = (degrees, 1, -400, 900, true) }
        ),
        (
          image(1201, 901, 256),
          Query(320, 160) { ($0.rotation, $0.scale, $0.zoom, $0.anchor) = (degrees, 0.3, 1.7, [3, 150]) }
        ),
      ]
    }
    return questions
  }

  private static var surroundings: [Subresource] {
    let photo = image(5120, 2880)
    return [
      (photo, Query(100, 80) { ($0.scale, $0.x, $0.y, $0.buffer) = (1, 1100, 600, 1) }),
      (photo, Query(100, 80) { ($0.scale, $0.buffer) = (1, 2) }),
      (photo, Query(100, 80) { ($0.scale, $0.x, $0.y, $0.buffer) = (1, 5000, 2800, 1) }),
      (photo, Query(100, 80) { ($0.scale, $0.x, $0.buffer) = (1, 6000, 3) }),
      (photo, Query(100, 80) { ($0.scale, $0.x, $0.y, $0.buffer, $0.rotation) = (1, 1000, 1000, 1, 45) }),
      (photo, Query(100, 80) { $0.buffer = 64 }),
      (photo, Query(100, 80) { ($0.scale, $0.x, $0.y, $0.fallback) = (1, 1100, 600, true) }),
      (photo, Query(100, 80) { ($0.scale, $0.x, $0.y, $0.fallback) = (0.1, -30, -30, true) }),
      (photo, Query(100, 80) { ($0.scale, $0.x, $0.fallback) = (1, 6000, true) }),
      (
        photo,
        Query(100, 80) { ($0.scale, $0.fallback, $0.buffer, $0.dpr, $0.rotation) = (0.2, true, 1, 2, 10) }
      ),
      (
        image(1 << 31, 1 << 20), Query(80, 80) { ($0.scale, $0.center, $0.fallback) = (1, [1e9, 5e5], true) }
      ),
    ]
  }

  /// Drawn from a seed: every parameter in every company, tile lists kept short.
  private static func drawn(count: Int, seed: UInt64) -> [Subresource] {
    var random = SplitMix(seed)
    var questions: [Subresource] = []
    while questions.count < count {
      let question = draw(&random)
      guard let tiles = try? ViewportCase(question.image, question.query).answer.tiles.count else { continue }
      // One tile or none says less than a few.
      if (2...16).contains(tiles) || random.below(tiles == 0 ? 8 : 5) == 0, tiles <= 16 {
        questions.append(question)
      }
    }
    return questions
  }

  private static func draw(_ random: inout SplitMix) -> Subresource {
    func side() -> Int { 1 + random.below(1 << (1 + random.below(31))) }
    func number(_ low: Double, _ high: Double) -> Double {
      let value = low + (high - low) * random.unit()
      return random.below(3) == 0 ? value : (value * 8).rounded() / 8
    }
    func sometimes(_ part: Int) -> Bool { random.below(part) == 0 }
    let shape = image(side(), side(), [256, 512, 512, 1024, 254, 100, 1000][random.below(7)])
    var query = Query(1 + number(0, 400).rounded(), 1 + number(0, 300).rounded())
    let (width, height) = (Double(shape.width), Double(shape.height))
    if sometimes(2) {
      let scale = 1 / Double(1 << random.below(24)) * number(0.5, 8)
      query.scale = max(scale, 1e-9)
    }
    if query.scale == nil || sometimes(5), sometimes(2) {
      query.fit = ["contain", "cover", "width", "none"][random.below(4)]
    }
    switch random.below(3) {
    case 0: query.center = [number(0, width), number(0, height)]
    case 1:
      let scale = query.scale ?? 1
      query.x = number(-query.width, width * scale)
      if sometimes(2) { query.y = number(-query.height, height * scale) }
    default: break
    }
    if sometimes(4) { query.zoom = max(number(0, 4), 0.125) }
    if sometimes(4) { query.anchor = [number(0, query.width), number(0, query.height)] }
    if sometimes(8) { query.minScale = number(0.01, 2) }
    if sometimes(8) { query.maxScale = (query.minScale ?? 0) + number(0.125, 4) }
    if sometimes(3) { query.clamp = sometimes(4) ? false : true }
    if sometimes(2) { query.rotation = sometimes(3) ? Double(random.below(9)) * 90 - 360 : number(-400, 400) }
    if sometimes(4) { query.flip = true }
    if sometimes(4) { query.dpr = [0.5, 1.5, 2, 3][random.below(4)] }
    if sometimes(8) { query.buffer = 1 + random.below(2) }
    if sometimes(6) { query.fallback = true }
    return (shape, query)
  }
}

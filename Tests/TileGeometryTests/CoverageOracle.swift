import TileGeometry
import ZigguratTestSupport

/// The tiles that intersect a viewport, by brute force. Every tile near the window is compared with the rotated
/// window: two rectangles intersect exactly if none of their four directions separates them. The arithmetic is
/// wider, and only the input values come from the geometry.
struct CoverageOracle {
  enum Verdict {
    case covered
    case free
    /// The two come so near to touching that rounding decides.
    case tie
  }

  let width: Wide
  let height: Wide
  let tileSize: Int
  /// From 1×1 up to full resolution.
  let levels: [(width: Int, height: Int)]
  /// Image space.
  private let center: (x: Wide, y: Wide)
  /// Unit vectors of the window's sides in image space, and half their lengths.
  private let across: (x: Wide, y: Wide)
  private let down: (x: Wide, y: Wide)
  private let half: (across: Wide, down: Wide)
  /// The tolerance of coordinates in image space: 1e-12 of the largest one.
  let tolerance: Wide

  init(image: PixelSize, tileSize: Int, viewport: Viewport, degrees: Double, isFlipped: Bool) {
    (width, height) = (Wide(image.width), Wide(image.height))
    self.tileSize = tileSize
    var levels = [(width: image.width, height: image.height)]
    while let last = levels.last, last.width > 1 || last.height > 1 {
      levels.append(((last.width + 1) / 2, (last.height + 1) / 2))
    }
    self.levels = levels.reversed()
    let scale = Wide(viewport.scale)
    half = (Wide(viewport.width) / 2 / scale, Wide(viewport.height) / 2 / scale)
    center = (Wide(viewport.x) / scale + half.across, Wide(viewport.y) / scale + half.down)
    // What is seen to the right of the centre lay, before the rotation, where turning back puts it.
    let (sine, cosine) = wideSineCosine(degrees: degrees)
    let mirror: Wide = isFlipped ? -1 : 1
    across = (cosine * mirror, -sine)
    down = (sine * mirror, cosine)
    let largest = max(center.x.magnitude, center.y.magnitude) + half.across + half.down
    tolerance = max(largest, width, height) * 1e-12
  }

  /// Corners of the window in image space, in order around it.
  var corners: [(x: Wide, y: Wide)] {
    [(-1, -1), (1, -1), (1, 1), (-1, 1)].map { (sides: (Wide, Wide)) in
      let (a, b) = (sides.0 * half.across, sides.1 * half.down)
      return (center.x + a * across.x + b * down.x, center.y + a * across.y + b * down.y)
    }
  }

  /// The tile's own pixels without overlap, image space.
  func tileRange(_ level: Int, _ column: Int, _ row: Int) -> (x: ClosedRange<Wide>, y: ClosedRange<Wide>) {
    let unit = Wide(sign: .plus, exponent: levels.count - 1 - level, significand: 1)
    let size = Wide(tileSize) * unit
    let (x, y) = (Wide(column) * size, Wide(row) * size)
    return (x...min(x + size, width), y...min(y + size, height))
  }

  func verdict(_ level: Int, _ column: Int, _ row: Int) -> Verdict {
    let (x, y) = tileRange(level, column, row)
    let middle = (x: (x.lowerBound + x.upperBound) / 2, y: (y.lowerBound + y.upperBound) / 2)
    let sides = (x: (x.upperBound - x.lowerBound) / 2, y: (y.upperBound - y.lowerBound) / 2)
    let apart = (x: middle.x - center.x, y: middle.y - center.y)
    let overlaps = [
      sides.x + half.across * across.x.magnitude + half.down * down.x.magnitude - apart.x.magnitude,
      sides.y + half.across * across.y.magnitude + half.down * down.y.magnitude - apart.y.magnitude,
      half.across + sides.x * across.x.magnitude + sides.y * across.y.magnitude
        - (apart.x * across.x + apart.y * across.y).magnitude,
      half.down + sides.x * down.x.magnitude + sides.y * down.y.magnitude
        - (apart.x * down.x + apart.y * down.y).magnitude,
    ]
    let least = overlaps.min()!
    if least > tolerance { return .covered }
    return least < -tolerance ? .free : .tie
  }

  /// Every tile of `level` that could meet the window, and one more all around.
  func candidates(_ level: Int) -> (columns: Range<Int>, rows: Range<Int>) {
    let xs = corners.map(\.x)
    let ys = corners.map(\.y)
    let unit = Wide(sign: .plus, exponent: levels.count - 1 - level, significand: 1) * Wide(tileSize)
    func run(_ low: Wide, _ high: Wide, _ length: Int) -> Range<Int> {
      let count = (length + tileSize - 1) / tileSize
      let first = max((low / unit).rounded(.down) - 1, 0)
      let end = min((high / unit).rounded(.up) + 1, Wide(count))
      return first < end ? Int(first)..<Int(end) : 0..<0
    }
    let (width, height) = levels[level]
    return (run(xs.min()!, xs.max()!, width), run(ys.min()!, ys.max()!, height))
  }

  /// The coarsest level that is fine enough for `scale`, device pixels per image pixel.
  func level(forScale scale: Double) -> Int {
    for level in levels.indices {
      if Wide(sign: .plus, exponent: level - levels.count + 1, significand: 1) >= Wide(scale) { return level }
    }
    return levels.count - 1
  }

  /// The box around what is seen of the image: the window's outline cut by each of the image's edges in
  /// turn (Sutherland and Hodgman). Nil where nothing is left.
  var visible: (x: ClosedRange<Wide>, y: ClosedRange<Wide>)? {
    typealias Corner = (x: Wide, y: Wide)
    var outline = corners
    let insides: [(Corner) -> Wide] = [
      { $0.x }, { width - $0.x }, { $0.y }, { height - $0.y },
    ]
    for inside in insides {
      var cut: [Corner] = []
      for (index, corner) in outline.enumerated() {
        let before = outline[(index + outline.count - 1) % outline.count]
        let (from, to) = (inside(before), inside(corner))
        if (from < 0) != (to < 0) {
          let part = from / (from - to)
          cut.append((before.x + (corner.x - before.x) * part, before.y + (corner.y - before.y) * part))
        }
        if to >= 0 { cut.append(corner) }
      }
      outline = cut
      if outline.isEmpty { return nil }
    }
    let xs = outline.map(\.x)
    let ys = outline.map(\.y)
    return (xs.min()!...xs.max()!, ys.min()!...ys.max()!)
  }

  func distance(_ level: Int, _ column: Int, _ row: Int) -> Wide {
    let (x, y) = tileRange(level, column, row)
    let dx = (x.lowerBound + x.upperBound) / 2 - center.x
    let dy = (y.lowerBound + y.upperBound) / 2 - center.y
    return dx * dx + dy * dy
  }
}

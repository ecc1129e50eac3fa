import Testing
import TileGeometry
import ZigguratTestSupport

struct ViewportTests {
  /// Random windows onto random images; numbers a viewer would have.
  private static func scenes(_ count: Int) -> [(image: PixelSize, viewport: Viewport)] {
    var random = SplitMix(SplitMix.runSeed)
    return (0..<count).map { _ in
      let image = PixelSize(width: random.side(bits: 31), height: random.side(bits: 31))!
      let degrees = random.sometimes(3) ? Double(random.below(4)) * 90 : random.number(-360, 360)
      let scale = Double(sign: .plus, exponent: -random.below(20), significand: random.number(1, 2))
      let viewport = Viewport(
        width: random.number(1, 4000), height: random.number(1, 4000), scale: scale,
        x: random.number(-1000, Double(image.width) * scale),
        y: random.number(-1000, Double(image.height) * scale),
        rotation: Rotation(degrees: degrees, isFlipped: random.sometimes(3)))
      return (image, viewport)
    }
  }

  private static func near(_ a: Point, _ b: Point, _ tolerance: Double) -> Bool {
    (a.x - b.x).magnitude <= tolerance && (a.y - b.y).magnitude <= tolerance
  }

  /// Rounding of coordinates as large as the window's.
  private static func rounding(_ viewport: Viewport) -> Double {
    1e-13 * (viewport.x.magnitude + viewport.y.magnitude + viewport.width + viewport.height)
  }

  @Test("points of the viewport and of the image are inverses")
  func pointsRoundTrip() {
    var random = SplitMix(SplitMix.runSeed)
    for (_, viewport) in Self.scenes(2000) {
      let seen = Point(x: random.number(0, viewport.width), y: random.number(0, viewport.height))
      let back = viewport.viewportPoint(ofImage: viewport.imagePoint(ofViewport: seen))
      #expect(Self.near(seen, back, Self.rounding(viewport)), "\(viewport), seed \(SplitMix.runSeed)")
      let image = viewport.imagePoint(ofViewport: seen)
      let again = viewport.imagePoint(ofViewport: viewport.viewportPoint(ofImage: image))
      #expect(
        Self.near(image, again, Self.rounding(viewport) / viewport.scale), "seed \(SplitMix.runSeed)")
    }
  }

  @Test("content offset, scale and image space match their definitions")
  func definitions() {
    let viewport = Viewport(width: 1280, height: 800, scale: 0.25, x: 300, y: 200)
    #expect(viewport.imagePoint(ofViewport: Point(x: 0, y: 0)) == Point(x: 1200, y: 800))
    #expect(viewport.viewportPoint(ofImage: Point(x: 1200, y: 800)) == Point(x: 0, y: 0))
    #expect(viewport.imageCenter == Point(x: 3760, y: 2400))
    // Turned a quarter clockwise, what was left of the middle is above it.
    var rotated = viewport
    rotated.rotation = Rotation(degrees: 90)
    #expect(rotated.viewportPoint(ofImage: Point(x: 3760 - 40, y: 2400)) == Point(x: 640, y: 390))
    rotated.rotation = Rotation(degrees: 0, isFlipped: true)
    #expect(rotated.viewportPoint(ofImage: Point(x: 3760 - 40, y: 2400)) == Point(x: 650, y: 400))
  }

  @Test("zooming keeps the image point under the anchor, and zooming back restores the viewport")
  func zoomAbout() {
    var random = SplitMix(SplitMix.runSeed)
    for (_, viewport) in Self.scenes(2000) {
      let anchor = Point(x: random.number(-100, viewport.width), y: random.number(0, viewport.height + 100))
      let factor = random.number(0.01, 40)
      let zoomed = viewport.scaled(to: viewport.scale * factor, about: anchor)
      let (before, after) = (viewport.imagePoint(ofViewport: anchor), zoomed.imagePoint(ofViewport: anchor))
      let rounding = (Self.rounding(viewport) + Self.rounding(zoomed)) / viewport.scale * max(1, 1 / factor)
      #expect(Self.near(before, after, rounding), "\(viewport), \(anchor), seed \(SplitMix.runSeed)")
      let back = zoomed.scaled(to: viewport.scale, about: anchor)
      #expect(
        Self.near(
          Point(x: viewport.x, y: viewport.y), Point(x: back.x, y: back.y), rounding * viewport.scale),
        "\(viewport), \(anchor), seed \(SplitMix.runSeed)")
      let middle = viewport.scaled(to: viewport.scale * factor)
      #expect(Self.near(middle.imageCenter, viewport.imageCenter, rounding), "seed \(SplitMix.runSeed)")
      #expect(viewport.scaled(to: viewport.scale, about: anchor) == viewport)
    }
  }

  @Test("centring puts the image point in the middle at any rotation")
  func centered() {
    for (image, viewport) in Self.scenes(500) {
      let point = Point(x: Double(image.width) / 3, y: Double(image.height) / 7)
      let moved = viewport.centered(on: point)
      let rounding = Self.rounding(moved) / moved.scale
      #expect(Self.near(moved.imageCenter, point, rounding))
      let middle = Point(x: moved.width / 2, y: moved.height / 2)
      #expect(Self.near(moved.imagePoint(ofViewport: middle), point, rounding))
      #expect(moved.centered(on: moved.imageCenter).scale == viewport.scale)
    }
  }

  @Test(
    "clamping leaves no avoidable gap, centres small images, and is minimal and idempotent")
  func clamped() {
    for (image, viewport) in Self.scenes(3000) {
      let clamped = viewport.clamped(to: image)
      let rounding = Self.rounding(viewport) + Self.rounding(clamped)
      let again = clamped.clamped(to: image)
      #expect(Self.near(Point(x: again.x, y: again.y), Point(x: clamped.x, y: clamped.y), rounding))
      #expect((clamped.scale, clamped.rotation) == (viewport.scale, viewport.rotation))
      // The box around the rotated window, content space.
      let seen = viewport.rotation.bounds(viewport.width, viewport.height)
      for (offset, before, window, reach, content) in [
        (clamped.x, viewport.x, viewport.width, seen.width, Double(image.width) * viewport.scale),
        (clamped.y, viewport.y, viewport.height, seen.height, Double(image.height) * viewport.scale),
      ] {
        let low = offset + (window - reach) / 2
        let high = offset + (window + reach) / 2
        if content <= reach {
          #expect((low + high - content).magnitude <= 2 * rounding)
        } else {
          #expect(low >= -rounding && high <= content + rounding)
          let oldLow = before + (window - reach) / 2
          let oldHigh = before + (window + reach) / 2
          if oldLow >= 0, oldHigh <= content {
            #expect(offset == before, "moved without need, seed \(SplitMix.runSeed)")
          } else {
            // It stands at the edge that it had left.
            #expect(min(low.magnitude, (high - content).magnitude) <= rounding)
          }
        }
      }
    }
  }

  private static let fitTable: [(fit: Fit, rotation: Double, scale: Double, x: Double, y: Double)] = [
    (.contain, 0, 0.25, 0, -10), (.cover, 0, 0.3, 20, 0), (.width, 0, 0.25, 0, -10), (.none, 0, 1, 300, 140),
    (.contain, 90, 0.15, -40, -30), (.width, 90, 0.5, 100, 40), (.cover, 90, 0.5, 100, 40),
    (.contain, 180, 0.25, 0, -10), (.none, 270, 1, 300, 140),
  ]

  @Test("fits of 800×400 in 200×120 have the expected scale and position", arguments: fitTable)
  func fits(_ row: (fit: Fit, rotation: Double, scale: Double, x: Double, y: Double)) {
    let image = PixelSize(width: 800, height: 400)!
    let viewport = Viewport(
      fitting: image, row.fit, width: 200, height: 120, rotation: Rotation(degrees: row.rotation))
    #expect((viewport.scale - row.scale).magnitude <= 1e-15)
    #expect((viewport.x - row.x).magnitude <= 1e-12)
    #expect((viewport.y - row.y).magnitude <= 1e-12)
  }

  @Test("contain shows the whole image and touches two edges; cover leaves no corner empty")
  func fitLaws() {
    for (image, viewport) in Self.scenes(2000) {
      let (width, height, rotation) = (viewport.width, viewport.height, viewport.rotation)
      let (imageWidth, imageHeight) = (Double(image.width), Double(image.height))
      let contained = Viewport(fitting: image, .contain, width: width, height: height, rotation: rotation)
      let corners = [(0, 0), (imageWidth, 0), (imageWidth, imageHeight), (0, imageHeight)].map {
        contained.viewportPoint(ofImage: Point(x: $0.0, y: $0.1))
      }
      let box = (
        left: corners.map(\.x).min()!, right: corners.map(\.x).max()!, top: corners.map(\.y).min()!,
        bottom: corners.map(\.y).max()!
      )
      let slack = 1e-9 * max(width, height)
      #expect(box.left >= -slack && box.right <= width + slack)
      #expect(box.top >= -slack && box.bottom <= height + slack)
      #expect(
        box.right - box.left >= width - slack || box.bottom - box.top >= height - slack,
        "seed \(SplitMix.runSeed)")
      let covering = Viewport(fitting: image, .cover, width: width, height: height, rotation: rotation)
      let unit = 1e-9 * max(imageWidth, imageHeight)
      var gaps: [Double] = []
      for (x, y) in [(0, 0), (width, 0), (width, height), (0, height)] {
        let point = covering.imagePoint(ofViewport: Point(x: x, y: y))
        gaps += [point.x, imageWidth - point.x, point.y, imageHeight - point.y]
      }
      #expect(gaps.min()! >= -unit && gaps.min()! <= unit, "seed \(SplitMix.runSeed)")
    }
  }

  @Test("limits clamp a scale; the default is from fit to 16 times that or full resolution")
  func limits() throws {
    let limits = try #require(ScaleLimits(minimum: 0.1, maximum: 4))
    for (scale, limited) in [(0.01, 0.1), (0.1, 0.1), (1, 1), (4, 4), (1e9, 4)] {
      #expect(limits.limit(scale) == limited)
    }
    for (minimum, maximum) in [(0, 1), (-1, 1), (2, 1), (.nan, 1), (1, .infinity), (1, .nan)] {
      #expect(ScaleLimits(minimum: minimum, maximum: maximum) == nil)
    }
    let photo = ScaleLimits(containing: PixelSize(width: 5120, height: 2880)!, width: 512, height: 512)
    #expect((photo.minimum, photo.maximum) == (0.1, 1.6))
    let large = ScaleLimits(containing: PixelSize(width: 51200, height: 100)!, width: 512, height: 512)
    #expect((large.minimum, large.maximum) == (0.01, 1))
    let small = ScaleLimits(containing: PixelSize(width: 1, height: 1)!, width: 300, height: 200)
    #expect((small.minimum, small.maximum) == (200, 3200))
  }
}

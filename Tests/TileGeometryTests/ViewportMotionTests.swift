import Foundation
import Testing
import TileGeometry
import ZigguratTestSupport

/// Laws of scrolling on random viewports, and values from outside that are no sizes, scales or offsets.
struct ViewportMotionTests {
  private struct Scene {
    var image: PixelSize
    var viewport: Viewport
    var insets: Insets
    var limits: ScaleLimits
    var anchor: Point?

    init(_ random: inout SplitMix) {
      image = PixelSize(width: random.side(bits: 20), height: random.side(bits: 20))!
      let rotation = Rotation(
        degrees: random.sometimes(2) ? Double(random.below(4)) * 90 : random.number(0, 360),
        isFlipped: random.sometimes(3))
      let (width, height) = (random.number(1, 2000), random.number(1, 2000))
      limits = ScaleLimits(containing: image, width: width, height: height, rotation: rotation)
      let scale = limits.minimum * pow(limits.maximum / limits.minimum, random.number(-0.4, 1.4))
      viewport = Viewport(
        width: width, height: height, scale: scale,
        x: random.number(-0.5, 1.5) * Double(image.width) * scale,
        y: random.number(-0.5, 1.5) * Double(image.height) * scale, rotation: rotation)
      func inset() -> Double { random.sometimes(2) ? 0 : random.number(-50, 200) }
      insets = Insets(top: inset(), left: inset(), bottom: inset(), right: inset())
      if random.sometimes(2) { anchor = Point(x: random.number(0, width), y: random.number(0, height)) }
    }
  }

  private static func scenes(_ count: Int) -> [Scene] {
    var random = SplitMix(SplitMix.runSeed)
    return (0..<count).map { _ in Scene(&random) }
  }

  private static func rounding(_ scene: Scene) -> Double {
    let content = Double(max(scene.image.width, scene.image.height)) * scene.limits.maximum * 4
    return 1e-12 * (content + scene.viewport.x.magnitude + scene.viewport.y.magnitude + 4000)
  }

  @Test("a settled viewport is permitted, and settling again changes nothing")
  func settled() {
    for scene in Self.scenes(3000) {
      let (image, limits, insets) = (scene.image, scene.limits, scene.insets)
      let rest = scene.viewport.settled(on: image, limits: limits, insets: insets, about: scene.anchor)
      #expect(limits.minimum <= rest.scale && rest.scale <= limits.maximum, "seed \(SplitMix.runSeed)")
      let offsets = rest.permittedOffsets(on: image, insets: insets)
      #expect(offsets.contains(Point(x: rest.x, y: rest.y)), "seed \(SplitMix.runSeed)")
      #expect(rest.settled(on: image, limits: limits, insets: insets, about: scene.anchor) == rest)
      let shown = rest.rubberBanded(on: image, limits: limits, insets: insets, about: scene.anchor)
      #expect(shown == rest, "within its limits the picture follows the fingers, seed \(SplitMix.runSeed)")
    }
  }

  @Test("the corners of the inset area lie on the image if it is large enough")
  func corners() {
    for scene in Self.scenes(3000) {
      let rest = scene.viewport.clamped(to: scene.image, insets: scene.insets)
      let (left, right) = (scene.insets.left, rest.width - scene.insets.right)
      let (top, bottom) = (scene.insets.top, rest.height - scene.insets.bottom)
      guard left <= right, top <= bottom else { continue }
      let corners = [(left, top), (right, top), (right, bottom), (left, bottom)].map {
        rest.imagePoint(ofViewport: Point(x: $0.0, y: $0.1))
      }
      let slack = Self.rounding(scene) / rest.scale
      for (places, side) in [(corners.map(\.x), scene.image.width), (corners.map(\.y), scene.image.height)] {
        let (low, high, side) = (places.min()!, places.max()!, Double(side))
        if high - low >= side {
          #expect((low + high - side).magnitude <= 2 * slack, "centred, seed \(SplitMix.runSeed)")
        } else {
          #expect(low >= -slack && high <= side + slack, "no gap, seed \(SplitMix.runSeed)")
        }
      }
    }
  }

  @Test("a rubber band follows less and less, stays within its room, and is invertible")
  func rubberBand() {
    var last = 0.0
    var pull = 1.0
    while pull < 1e6 {
      let shown = RubberBand.displacement(forPull: pull, room: 800)
      #expect(shown > last && shown < 800 && shown < pull)
      #expect(RubberBand.displacement(forPull: -pull, room: 800) == -shown)
      if shown < 790 {
        let back = RubberBand.pull(forDisplacement: shown, room: 800)
        #expect((back / pull - 1).magnitude < 1e-9)
      }
      (last, pull) = (shown, pull * 1.3)
    }
    #expect(RubberBand.displacement(forPull: .infinity, room: 800) == 800)
    for room in [0, -1, .nan, .infinity] as [Double] {
      #expect(RubberBand.displacement(forPull: 5, room: room) == 0)
      #expect(RubberBand.pull(forDisplacement: 5, room: room) == 0)
    }
    #expect(RubberBand.displacement(forPull: .nan, room: 8) == 0)
    #expect(RubberBand.pull(forDisplacement: .nan, room: 8) == 0)
    #expect(RubberBand.pull(forDisplacement: 9, room: 8).isFinite)
  }

  @Test("beyond its limits, the scale follows in octaves, as the C library computes them")
  func octaves() throws {
    var random = SplitMix(SplitMix.runSeed)
    let image = PixelSize(width: 1000, height: 1000)!
    for _ in 0..<3000 {
      let minimum = exp2(random.number(-60, 60))
      let limits = try #require(ScaleLimits(minimum: minimum, maximum: minimum * 4))
      let scale = minimum * exp2(random.number(-40, 40))
      let viewport = Viewport(width: 100, height: 100, scale: scale, x: 0, y: 0)
      let inside = limits.limit(scale)
      let octaves = log2(scale / inside)
      let followed = octaves.sign == .minus ? -1.0 : 1.0
      let wanted = inside * exp2(followed * (1 - 1 / (octaves.magnitude * 0.55 + 1)))
      let shown = viewport.rubberBanded(on: image, limits: limits).scale
      #expect((shown / wanted - 1).magnitude < 1e-13, "\(scale), \(inside), seed \(SplitMix.runSeed)")
      #expect(shown > limits.minimum / 2 && shown < limits.maximum * 2)
    }
  }

  @Test("a picture caught beyond its limits does not jump")
  func caught() {
    for scene in Self.scenes(3000) {
      let (image, limits, insets, anchor) = (scene.image, scene.limits, scene.insets, scene.anchor)
      // Offsets past permitted ones by at most 999 of 1,000 of the room: further the inverse does not reach.
      let wanted = scene.viewport.settled(on: image, limits: limits, insets: insets)
      let pulled = wanted.scaled(to: wanted.scale * 1.3, about: anchor)
      let shown = pulled.rubberBanded(on: image, limits: limits, insets: insets, about: anchor)
      let fingers = shown.withoutRubberBand(on: image, limits: limits, insets: insets, about: anchor)
      #expect((fingers.scale / pulled.scale - 1).magnitude < 1e-9, "seed \(SplitMix.runSeed)")
      var moved = wanted
      moved.x -= 0.8 * moved.width
      moved.y += 0.3 * moved.height
      let shownMoved = moved.rubberBanded(on: image, limits: limits, insets: insets)
      let back = shownMoved.withoutRubberBand(on: image, limits: limits, insets: insets)
      let slack = 1e5 * Self.rounding(scene)
      #expect((back.x - moved.x).magnitude < slack && (back.y - moved.y).magnitude < slack)
    }
  }

  @Test("a rectangle that is zoomed to is visible, centred, and touches two edges of the area")
  func zoomed() {
    var random = SplitMix(SplitMix.runSeed)
    for scene in Self.scenes(2000) {
      let (width, height) = (Double(scene.image.width), Double(scene.image.height))
      let rectangle = Rect(
        x: random.number(0, width), y: random.number(0, height), width: random.number(0.1, width),
        height: random.number(0.1, height))
      let view = scene.viewport.zoomed(to: rectangle, insets: scene.insets)
      let corners = [(0.0, 0.0), (1, 0), (1, 1), (0, 1)].map {
        view.viewportPoint(
          ofImage: Point(x: rectangle.x + $0.0 * rectangle.width, y: rectangle.y + $0.1 * rectangle.height))
      }
      let gaps = [
        corners.map(\.x).min()! - scene.insets.left,
        view.width - scene.insets.right - corners.map(\.x).max()!,
        corners.map(\.y).min()! - scene.insets.top,
        view.height - scene.insets.bottom - corners.map(\.y).max()!,
      ]
      guard scene.insets.left + scene.insets.right < view.width - 1,
        scene.insets.top + scene.insets.bottom < view.height - 1
      else { continue }
      let slack = 1e-6 + 1e-9 * (view.x.magnitude + view.y.magnitude)
      #expect((gaps[0] - gaps[1]).magnitude <= slack && (gaps[2] - gaps[3]).magnitude <= slack)
      #expect(gaps.min()! >= -slack && gaps.min()! <= slack, "seed \(SplitMix.runSeed)")
      // Counted from the other edge it is the same rectangle.
      let other = Rect(
        x: rectangle.x + rectangle.width, y: rectangle.y, width: -rectangle.width, height: rectangle.height)
      #expect((scene.viewport.zoomed(to: other, insets: scene.insets).x - view.x).magnitude <= slack)
    }
  }

  @Test("resizing and resizing back restores the viewport")
  func resized() {
    for scene in Self.scenes(2000) {
      let viewport = scene.viewport
      let small = viewport.resized(width: 10, height: 777, insets: scene.insets)
      #expect(
        (small.width, small.height, small.scale, small.rotation) == (
          10, 777, viewport.scale, viewport.rotation
        ))
      let back = small.resized(width: viewport.width, height: viewport.height, insets: scene.insets)
      let slack = Self.rounding(scene)
      #expect((back.x - viewport.x).magnitude <= slack && (back.y - viewport.y).magnitude <= slack)
      #expect(viewport.resized(width: viewport.width, height: viewport.height) == viewport)
      for side in [0, -5, .nan, -.infinity] as [Double] {
        #expect(viewport.resized(width: side, height: side) == viewport)
      }
    }
  }
}

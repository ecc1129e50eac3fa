import Testing
import TileGeometry
import ZigguratTestSupport

struct RotationTests {
  @Test(
    "rotations by multiples of 90° are exact",
    arguments: [
      (0.0, 1.0, 0.0), (90, 0, 1), (180, -1, 0), (270, 0, -1), (360, 1, 0), (-90, 0, -1), (-180, -1, 0),
      (450, 0, 1), (36_000_090, 0, 1), (-0.0, 1, 0),
    ])
  func quarterTurns(degrees: Double, cosine: Double, sine: Double) {
    let rotation = Rotation(degrees: degrees)
    #expect(rotation.cosine == cosine)
    #expect(rotation.sine == sine)
    let point = rotation.apply(Point(x: 3, y: 5))
    #expect(point == Point(x: 3 * cosine - 5 * sine, y: 3 * sine + 5 * cosine))
  }

  @Test("a positive angle is clockwise on a screen, after mirroring")
  func direction() {
    #expect(Rotation(degrees: 90).apply(Point(x: 1, y: 0)) == Point(x: 0, y: 1))
    #expect(Rotation(degrees: 90, isFlipped: true).apply(Point(x: 1, y: 0)) == Point(x: 0, y: -1))
    #expect(Rotation(degrees: 0, isFlipped: true).apply(Point(x: 1, y: 2)) == Point(x: -1, y: 2))
  }

  @Test(
    "degrees are reduced to 0..<360",
    arguments: [
      (-1.0, 359.0), (360, 0), (720.5, 0.5), (-720, 0), (1e6, 280), (-1e-20, 0), (359.999, 359.999),
    ])
  func reduction(degrees: Double, reduced: Double) {
    #expect(Rotation(degrees: degrees).degrees == reduced)
  }

  @Test("sine and cosine are within 2.25 units in the last place")
  func sineAndCosine() {
    var random = SplitMix(SplitMix.runSeed)
    var angles = (0..<3600).map { Double($0) / 10 } + [44.99999999, 45.00000001, 1e-9, 89.9999999, 1e-300]
    for _ in 0..<20_000 { angles.append(random.number(0, 360)) }
    var worst = 0.0
    for angle in angles {
      let rotation = Rotation(degrees: angle)
      let (sine, cosine) = wideSineCosine(degrees: angle)
      for (ours, exact) in [(rotation.sine, sine), (rotation.cosine, cosine)] {
        worst = max(worst, Double((Wide(ours) - exact).magnitude / Wide(Double(exact).ulp)))
      }
    }
    // 2.015 has been seen.
    #expect(worst <= 2.25, "seed \(SplitMix.runSeed)")
  }

  @Test("apply and undo are inverses")
  func inverses() {
    var random = SplitMix(SplitMix.runSeed)
    for _ in 0..<5000 {
      let rotation = Rotation(degrees: random.number(-1000, 1000), isFlipped: random.sometimes(2))
      let point = Point(x: random.number(-1e9, 1e9), y: random.number(-1e9, 1e9))
      for back in [rotation.undo(rotation.apply(point)), rotation.apply(rotation.undo(point))] {
        let distance = max((back.x - point.x).magnitude, (back.y - point.y).magnitude)
        #expect(distance <= 1e-6, "\(rotation.degrees)°, seed \(SplitMix.runSeed)")
      }
    }
  }

  @Test("the box around a rotated rectangle touches its corners")
  func bounds() {
    for degrees in stride(from: 0.0, to: 360, by: 7.5) {
      let rotation = Rotation(degrees: degrees)
      let corners = [(-30.0, -10.0), (30, -10), (30, 10), (-30, 10)].map {
        rotation.apply(Point(x: $0.0, y: $0.1))
      }
      let box = rotation.bounds(60, 20)
      #expect((corners.map(\.x).max()! * 2 - box.width).magnitude < 1e-12)
      #expect((corners.map(\.y).max()! * 2 - box.height).magnitude < 1e-12)
    }
  }
}

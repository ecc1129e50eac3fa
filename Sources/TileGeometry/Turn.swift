/// A rotation by any angle, clockwise as screens have it (y grows downwards), after an optional
/// mirroring left to right; about the origin.
///
/// Sine and cosine are our own: they are exact at quarter turns, need no import, and the viewer
/// does the same arithmetic, so that both agree to the last bit.
public struct Turn: Hashable, Sendable {
  /// Degrees clockwise, in 0..<360.
  public let degrees: Double
  /// Whether the picture is mirrored left to right before it is turned.
  public let isFlipped: Bool
  /// The cosine of the angle.
  public let cosine: Double
  /// The sine of the angle.
  public let sine: Double

  /// A turn by an angle, which is brought into 0..<360.
  ///
  /// - Parameters:
  ///   - degrees: clockwise; any finite angle.
  ///   - isFlipped: whether the picture is mirrored left to right first.
  public init(degrees: Double, isFlipped: Bool = false) {
    precondition(degrees.isFinite, "an angle is finite")
    var angle = degrees.truncatingRemainder(dividingBy: 360)
    if angle < 0 { angle += 360 }
    if angle >= 360 { angle = 0 }
    self.degrees = angle
    self.isFlipped = isFlipped
    let quarter = Int(angle / 90 + 0.5)
    let radians = (angle - Double(quarter) * 90) * (Double.pi / 180)
    let (sine, cosine) = Self.series(radians)
    switch quarter % 4 {
    case 0: (self.cosine, self.sine) = (cosine, sine)
    case 1: (self.cosine, self.sine) = (-sine, cosine)
    case 2: (self.cosine, self.sine) = (-cosine, -sine)
    default: (self.cosine, self.sine) = (sine, -cosine)
    }
  }

  /// The turn that leaves a picture as it is.
  public static let none = Turn(degrees: 0)

  /// Whether a picture stays as it is, neither turned nor mirrored.
  public var isIdentity: Bool { degrees == 0 && !isFlipped }

  /// A point from before the turn to after it, both relative to the centre. Inverse of `undo`.
  public func apply(_ point: Point) -> Point {
    let x = isFlipped ? -point.x : point.x
    return Point(x: x * cosine - point.y * sine, y: x * sine + point.y * cosine)
  }

  /// A point from after the turn to before it, both relative to the centre. Inverse of `apply`.
  public func undo(_ point: Point) -> Point {
    let x = point.x * cosine + point.y * sine
    return Point(x: isFlipped ? -x : x, y: point.y * cosine - point.x * sine)
  }

  /// The sides of the box around a turned `width` × `height` rectangle.
  public func bounds(_ width: Double, _ height: Double) -> (width: Double, height: Double) {
    let (c, s) = (abs(cosine), abs(sine))
    return (width * c + height * s, width * s + height * c)
  }

  /// Taylor series for |radians| ≤ π/4, where the last terms are below 2^-60.
  private static func series(_ radians: Double) -> (sine: Double, cosine: Double) {
    let square = radians * radians
    var sine = 1.0
    var cosine = 1.0
    var divisor = 18.0
    while divisor >= 2 {
      sine = 1 - square / (divisor * (divisor + 1)) * sine
      cosine = 1 - square / ((divisor - 1) * divisor) * cosine
      divisor -= 2
    }
    return (radians * sine, cosine)
  }
}

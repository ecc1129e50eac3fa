/// A rotation by any angle about the origin, after an optional mirroring left to right.
///
/// Angles are degrees clockwise on a screen, where y grows downwards, like those of `rotate()` in CSS.
///
/// Sine and cosine are computed here. They are exact at quarter turns, need no C library, and agree with the viewer's
/// JavaScript to the last bit.
public struct Rotation: Hashable, Sendable {
  /// The angle in degrees clockwise, in `0..<360`.
  public let degrees: Double
  /// Whether the picture is mirrored left to right before it is rotated.
  public let isFlipped: Bool
  /// The cosine of the angle.
  public let cosine: Double
  /// The sine of the angle.
  public let sine: Double

  /// Creates a rotation. The angle is reduced to `0..<360`.
  ///
  /// - Parameters:
  ///   - degrees: the angle in degrees clockwise; an angle that is not finite counts as 0.
  ///   - isFlipped: whether the picture is mirrored left to right first.
  public init(degrees: Double, isFlipped: Bool = false) {
    let angle = Self.reduced(degrees)
    self.degrees = angle
    self.isFlipped = isFlipped
    let quarter = Int(angle / 90 + 0.5)
    let radians = (angle - Double(quarter) * 90) * (Double.pi / 180)
    let (sine, cosine) = Self.series(radians)
    let rotated =
      switch quarter % 4 {
      case 0: (cosine: cosine, sine: sine)
      case 1: (cosine: -sine, sine: cosine)
      case 2: (cosine: -cosine, sine: -sine)
      default: (cosine: sine, sine: -cosine)
      }
    self.cosine = rotated.cosine
    self.sine = rotated.sine
  }

  /// The rotation by 0° without mirroring.
  public static let none = Rotation(degrees: 0)

  /// Whether the picture is neither rotated nor mirrored.
  public var isIdentity: Bool { degrees == 0 && !isFlipped }

  /// Whether the angle is a multiple of 90°.
  var isQuarter: Bool { sine == 0 || cosine == 0 }

  /// Rotates a point. The point is relative to the centre of rotation. Inverse of `undo(_:)`.
  public func apply(_ point: Point) -> Point {
    let x = isFlipped ? -point.x : point.x
    return Point(x: x * cosine - point.y * sine, y: x * sine + point.y * cosine)
  }

  /// Rotates a point back. The point is relative to the centre of rotation. Inverse of `apply(_:)`.
  public func undo(_ point: Point) -> Point {
    let x = point.x * cosine + point.y * sine
    return Point(x: isFlipped ? -x : x, y: point.y * cosine - point.x * sine)
  }

  /// Returns the sides of the smallest upright box around a rotated rectangle of `width` × `height`.
  public func bounds(_ width: Double, _ height: Double) -> (width: Double, height: Double) {
    let (c, s) = (abs(cosine), abs(sine))
    return (width * c + height * s, width * s + height * c)
  }

  /// Returns an angle modulo 360, exactly; 0 if it is not finite.
  ///
  /// `truncatingRemainder` would require `fmod` of the C library. Each subtraction here is exact: the angle is
  /// below twice the multiple of 360 that is subtracted.
  private static func reduced(_ degrees: Double) -> Double {
    guard degrees.isFinite else { return 0 }
    var rest = degrees.magnitude
    if rest >= 360 {
      // 360 is between 2^8 and 2^9.
      var multiple = 360 * Double(sign: .plus, exponent: Int(rest.exponent) - 8, significand: 1)
      while multiple >= 360 {
        if rest >= multiple { rest -= multiple }
        multiple /= 2
      }
    }
    let angle = degrees < 0 ? 360 - rest : rest
    return angle >= 360 ? 0 : angle
  }

  /// Returns sine and cosine by their Taylor series for |radians| ≤ π/4, where the last terms are below 2^-60.
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

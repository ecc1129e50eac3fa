/// A point in image space, content space or viewport space; the parameter or property that contains it states which.
public struct Point: Hashable, Sendable {
  /// The distance from the left edge of the space. It grows to the right.
  public var x: Double
  /// The distance from the top edge of the space. It grows downwards.
  public var y: Double

  /// Creates a point from its coordinates. The values are stored unchecked.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }

  /// Whether both coordinates are finite.
  var isFinite: Bool { x.isFinite && y.isFinite }
}

/// A rectangle with fractional edges in image space, content space or viewport space; the parameter or property that
/// contains it states which.
public struct Rect: Hashable, Sendable {
  /// The left edge.
  public var x: Double
  /// The top edge.
  public var y: Double
  /// The extent from left to right.
  public var width: Double
  /// The extent from top to bottom.
  public var height: Double

  /// Creates a rectangle from its top-left corner and its size. The values are stored unchecked.
  public init(x: Double, y: Double, width: Double, height: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// The empty rectangle at the origin.
  public static var zero: Rect { Rect(x: 0, y: 0, width: 0, height: 0) }

  /// The point in the middle of the rectangle, in the rectangle's space.
  public var center: Point { Point(x: x + width / 2, y: y + height / 2) }

  /// Whether all four values are finite.
  var isFinite: Bool { x.isFinite && y.isFinite && width.isFinite && height.isFinite }
}

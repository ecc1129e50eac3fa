/// A point; the space (image, content, viewport) is in the name of what holds it.
public struct Point: Hashable, Sendable {
  /// The distance from the left, growing to the right.
  public var x: Double
  /// The distance from the top, growing downwards.
  public var y: Double

  /// A point by its two coordinates.
  public init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
}

/// A rectangle with real edges; the space (image, content, viewport) is in the name of what holds it.
public struct Rect: Hashable, Sendable {
  /// The left edge.
  public var x: Double
  /// The top edge.
  public var y: Double
  /// The extent from left to right.
  public var width: Double
  /// The extent from top to bottom.
  public var height: Double

  /// A rectangle by its top-left corner and its extent; nothing is checked.
  public init(x: Double, y: Double, width: Double, height: Double) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }

  /// The empty rectangle at the origin.
  public static let zero = Rect(x: 0, y: 0, width: 0, height: 0)
}

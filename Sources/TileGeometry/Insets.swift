/// Distances from the edges of a viewport to the area in which an image is shown and may come to rest. They are the
/// room that toolbars or rounded corners take, like `UIScrollView.contentInset`.
///
/// Insets belong to viewport space: they stay where they are if the picture is rotated. Values are CSS pixels.
/// A negative inset lets the image end that far outside the viewport.
public struct Insets: Hashable, Sendable {
  /// The distance from the top edge of the viewport in CSS pixels.
  public let top: Double
  /// The distance from the left edge of the viewport in CSS pixels.
  public let left: Double
  /// The distance from the bottom edge of the viewport in CSS pixels.
  public let bottom: Double
  /// The distance from the right edge of the viewport in CSS pixels.
  public let right: Double

  /// Creates insets in CSS pixels.
  ///
  /// A value outside ±2^32 is clamped to that range. A value that is not a number counts as 0.
  public init(top: Double = 0, left: Double = 0, bottom: Double = 0, right: Double = 0) {
    let limits = -Viewport.sides.upperBound...Viewport.sides.upperBound
    self.top = top.clamped(to: limits, orIfNaN: 0)
    self.left = left.clamped(to: limits, orIfNaN: 0)
    self.bottom = bottom.clamped(to: limits, orIfNaN: 0)
    self.right = right.clamped(to: limits, orIfNaN: 0)
  }

  /// No insets: the whole viewport is available.
  public static var zero: Insets { Insets() }
}

extension Double {
  /// Returns the nearest value within `range`, or `substitute` if this is not a number.
  func clamped(to range: ClosedRange<Double>, orIfNaN substitute: Double) -> Double {
    isNaN ? substitute : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
  }
}

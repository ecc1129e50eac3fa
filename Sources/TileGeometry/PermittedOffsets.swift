/// The content offsets at which a viewport may come to rest: a range for each axis, CSS pixels of content space.
///
/// If the content is smaller than the area within the insets, its axis permits a single offset. It centres the content
/// in that area. `UIScrollView` would put the content to the area's start instead.
public struct PermittedOffsets: Hashable, Sendable {
  /// The permitted content offsets from the left.
  public let x: ClosedRange<Double>
  /// The permitted content offsets from the top.
  public let y: ClosedRange<Double>

  /// Creates permitted offsets from a range for each axis.
  public init(x: ClosedRange<Double>, y: ClosedRange<Double>) {
    self.x = x
    self.y = y
  }

  /// Whether an offset is permitted on both axes.
  public func contains(_ offset: Point) -> Bool { x.contains(offset.x) && y.contains(offset.y) }

  /// Returns the permitted offset that is nearest to `offset`. A coordinate that is not a number becomes the lower
  /// bound.
  public func nearest(to offset: Point) -> Point {
    Point(
      x: offset.x.clamped(to: x, orIfNaN: x.lowerBound), y: offset.y.clamped(to: y, orIfNaN: y.lowerBound))
  }
}

extension Viewport {
  /// Returns the content offsets at which the viewport leaves no gap beside the image, at its scale and rotation.
  ///
  /// Without a rotation an axis permits −leading inset … content + trailing inset − window, as with
  /// `UIScrollView.contentInset`. With a rotation the upright box around the rotated area counts.
  ///
  /// - Parameters:
  ///   - image: the size of the image at full resolution.
  ///   - insets: CSS pixels from the viewport's edges at which the image may end.
  public func permittedOffsets(on image: PixelSize, insets: Insets = .zero) -> PermittedOffsets {
    let area = area(within: insets)
    let reach = rotation.bounds(area.width, area.height)
    let shift = rotation.undo(Point(x: area.center.x - width / 2, y: area.center.y - height / 2))
    return PermittedOffsets(
      x: Self.offsets(
        window: width, reach: reach.width, shift: shift.x, content: Double(image.width) * scale),
      y: Self.offsets(
        window: height, reach: reach.height, shift: shift.y, content: Double(image.height) * scale))
  }

  /// Returns the permitted offsets of one axis, content space.
  ///
  /// - Parameters:
  ///   - reach: the extent of the rotated area within the insets along the axis.
  ///   - shift: the distance from the middle of the window to the middle of that area.
  private static func offsets(
    window: Double, reach: Double, shift: Double, content: Double
  ) -> ClosedRange<Double> {
    if content <= reach {
      let middle = (content - window) / 2 - shift
      return middle...middle
    }
    let first = (reach - window) / 2 - shift
    let last = content - (reach + window) / 2 - shift
    return first...max(first, last)
  }

  /// Returns the viewport moved as little as possible to a permitted offset. If the content is smaller than the area
  /// within the insets, its axis is centred; otherwise no gap is left on that axis.
  ///
  /// - Parameters:
  ///   - image: the size of the image at full resolution.
  ///   - insets: CSS pixels from the viewport's edges at which the image may end.
  public func clamped(to image: PixelSize, insets: Insets = .zero) -> Viewport {
    let offset = permittedOffsets(on: image, insets: insets).nearest(to: Point(x: x, y: y))
    var result = self
    result.x = offset.x
    result.y = offset.y
    return result
  }

  /// Returns the viewport at which a pan or a zoom comes to an end: the nearest permitted scale, then the nearest
  /// permitted offset. Settling a settled viewport changes nothing.
  ///
  /// - Parameters:
  ///   - image: the size of the image at full resolution.
  ///   - limits: the permitted scales.
  ///   - insets: CSS pixels from the viewport's edges at which the image may end.
  ///   - anchor: the point of viewport space whose image point stays while the scale is brought within its limits;
  ///     `nil` is the viewport's centre.
  public func settled(
    on image: PixelSize, limits: ScaleLimits, insets: Insets = .zero, about anchor: Point? = nil
  ) -> Viewport {
    scaled(to: limits.limit(scale), about: anchor).clamped(to: image, insets: insets)
  }
}

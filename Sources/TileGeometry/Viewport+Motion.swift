extension Viewport {
  /// Returns the viewport at another scale. The image point under the anchor stays under it.
  ///
  /// - Parameters:
  ///   - newScale: CSS pixels per image pixel, clamped to `scales`; a value that is not a number changes nothing.
  ///   - anchor: a point in viewport space; `nil` is the viewport's centre.
  public func scaled(to newScale: Double, about anchor: Point? = nil) -> Viewport {
    let newScale = newScale.clamped(to: Self.scales, orIfNaN: scale)
    if newScale == scale { return self }
    let point = anchor.map(unrotated) ?? Point(x: width / 2, y: height / 2)
    var result = self
    result.scale = newScale
    result.x = (x + point.x) / scale * newScale - point.x
    result.y = (y + point.y) / scale * newScale - point.y
    return result
  }

  /// Returns the viewport with an image point at its centre.
  ///
  /// - Parameter center: a point in image space; a coordinate that is not a number changes nothing on its axis.
  public func centered(on center: Point) -> Viewport {
    var result = self
    result.x = center.x * scale - width / 2
    result.y = center.y * scale - height / 2
    return result
  }

  /// Returns the viewport moved so that an image point appears at a point of the viewport.
  ///
  /// - Parameters:
  ///   - imagePoint: a point in image space.
  ///   - point: a point in viewport space. A coordinate of either that is not a number changes nothing on its axis.
  public func placing(_ imagePoint: Point, at point: Point) -> Viewport {
    let flat = unrotated(point)
    var result = self
    result.x = imagePoint.x * scale - flat.x
    result.y = imagePoint.y * scale - flat.y
    return result
  }

  /// Returns the viewport in another size of the window. The scale and the image point at the centre of the area
  /// within the insets stay.
  ///
  /// - Parameters:
  ///   - width: CSS pixels, clamped to `sides`; a value that is not above 0 changes nothing.
  ///   - height: CSS pixels, clamped to `sides`; a value that is not above 0 changes nothing.
  ///   - insets: CSS pixels from the edges of the old window and of the new one.
  public func resized(width: Double, height: Double, insets: Insets = .zero) -> Viewport {
    var result = self
    if width > 0 { result.width = width }
    if height > 0 { result.height = height }
    if (result.width, result.height) == (self.width, self.height) { return self }
    let center = imagePoint(ofViewport: area(within: insets).center)
    return result.placing(center, at: result.area(within: insets).center)
  }

  /// Returns the viewport zoomed to a rectangle of the image, as `UIScrollView.zoom(to:animated:)` does. The rectangle,
  /// rotated, is as large as the area within the insets allows, and lies in its middle.
  ///
  /// The result is not clamped to the image; `clamped(to:insets:)` does that.
  ///
  /// - Parameters:
  ///   - rectangle: image space; negative sides are counted from the other edge. An empty rectangle is centred at
  ///     the present scale. A rectangle that is not finite changes nothing.
  ///   - limits: the scales that are permitted; `nil` permits all.
  ///   - insets: CSS pixels from the viewport's edges that are kept free.
  public func zoomed(to rectangle: Rect, limits: ScaleLimits? = nil, insets: Insets = .zero) -> Viewport {
    guard rectangle.isFinite else { return self }
    let area = area(within: insets)
    let seen = rotation.bounds(rectangle.width.magnitude, rectangle.height.magnitude)
    var result = self
    // An axis on which the rectangle has no extent does not limit the scale.
    let across = seen.width > 0 ? area.width / seen.width : .infinity
    let down = seen.height > 0 ? area.height / seen.height : .infinity
    if min(across, down) < .infinity { result.scale = min(across, down) }
    if let limits { result.scale = limits.limit(result.scale) }
    return result.placing(rectangle.center, at: area.center)
  }

  /// Returns the area within the insets, viewport space. On an axis without space between the insets, it has length 0
  /// about the middle between them.
  func area(within insets: Insets) -> (width: Double, height: Double, center: Point) {
    (
      max(width - insets.left - insets.right, 0), max(height - insets.top - insets.bottom, 0),
      Point(x: (insets.left + (width - insets.right)) / 2, y: (insets.top + (height - insets.bottom)) / 2)
    )
  }
}

/// A window onto an image: its size in CSS pixels, the scale, and where it stands.
///
/// Content space is the image scaled by `scale`; `x`, `y` say where the viewport's top-left corner
/// stands there before the picture is turned. The turn is about the viewport's centre.
public struct Viewport: Hashable, Sendable {
  /// The window's width in CSS pixels, above 0.
  public var width: Double
  /// The window's height in CSS pixels, above 0.
  public var height: Double
  /// The zoom in CSS pixels per image pixel, above 0; 1 is full resolution.
  public var scale: Double
  /// The content offset from the left in CSS pixels, a scroll view's: negative before the content's edge.
  public var x: Double
  /// The content offset from the top in CSS pixels, a scroll view's: negative before the content's edge.
  public var y: Double
  /// How the picture is mirrored and turned about the viewport's centre.
  public var turn: Turn

  /// A window by its size, its scale and its content offset.
  ///
  /// - Precondition: width, height and scale are above 0.
  public init(width: Double, height: Double, scale: Double, x: Double, y: Double, turn: Turn = .none) {
    precondition(width > 0 && height > 0 && scale > 0, "a viewport has a positive size and scale")
    self.width = width
    self.height = height
    self.scale = scale
    self.x = x
    self.y = y
    self.turn = turn
  }

  /// The image point in the middle of the viewport; the turn leaves it where it is.
  public var imageCenter: Point { Point(x: (x + width / 2) / scale, y: (y + height / 2) / scale) }

  /// A point from viewport space, as seen, to image space. Inverse of `viewportPoint(ofImage:)`.
  public func imagePoint(ofViewport point: Point) -> Point {
    let flat = unturned(point)
    return Point(x: (x + flat.x) / scale, y: (y + flat.y) / scale)
  }

  /// A point from image space to viewport space, as seen. Inverse of `imagePoint(ofViewport:)`.
  public func viewportPoint(ofImage point: Point) -> Point {
    let flat = Point(x: point.x * scale - x, y: point.y * scale - y)
    if turn.isIdentity { return flat }
    let turned = turn.apply(Point(x: flat.x - width / 2, y: flat.y - height / 2))
    return Point(x: turned.x + width / 2, y: turned.y + height / 2)
  }

  /// A point as seen, where it would stand if the picture were neither turned nor mirrored.
  func unturned(_ point: Point) -> Point {
    if turn.isIdentity { return point }
    let flat = turn.undo(Point(x: point.x - width / 2, y: point.y - height / 2))
    return Point(x: flat.x + width / 2, y: flat.y + height / 2)
  }

  /// The same window at another scale, the image point under `anchor` staying under it.
  ///
  /// - Parameters:
  ///   - newScale: CSS pixels per image pixel, above 0.
  ///   - anchor: viewport space, as seen; nil is the viewport's centre.
  public func scaled(to newScale: Double, about anchor: Point? = nil) -> Viewport {
    if newScale == scale { return self }
    let point = anchor.map(unturned) ?? Point(x: width / 2, y: height / 2)
    var result = self
    result.scale = newScale
    result.x = (x + point.x) / scale * newScale - point.x
    result.y = (y + point.y) / scale * newScale - point.y
    return result
  }

  /// The same window with `center`, image space, in its middle.
  public func centered(on center: Point) -> Viewport {
    var result = self
    result.x = center.x * scale - width / 2
    result.y = center.y * scale - height / 2
    return result
  }

  /// The same window moved as little as leaves no gap: an axis on which the content is smaller
  /// than the viewport is centred, on a larger one the viewport stays inside the content.
  public func clamped(to image: PixelSize) -> Viewport {
    let bounds = turn.bounds(width, height)
    var result = self
    result.x = Self.clamp(x, window: width, reach: bounds.width, content: Double(image.width) * scale)
    result.y = Self.clamp(y, window: height, reach: bounds.height, content: Double(image.height) * scale)
    return result
  }

  /// - Parameter reach: the extent of the turned viewport along a content axis, about the window's middle.
  private static func clamp(_ offset: Double, window: Double, reach: Double, content: Double) -> Double {
    if content <= reach { return (content - window) / 2 }
    let first = (reach - window) / 2
    let last = content - (reach + window) / 2
    return min(max(offset, first), last)
  }
}

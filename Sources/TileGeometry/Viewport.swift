/// A window onto an image: its size, the zoom scale, the content offset and the rotation of the picture.
///
/// Three coordinate spaces occur. In all of them y grows downwards.
/// - *Image space* has one unit per pixel of the image at full resolution; its origin is the image's top-left corner.
/// - *Content space* is image space times `scale`, in CSS pixels, before the picture is rotated.
/// - *Viewport space* is the visible space, in CSS pixels from the top-left corner of the window, after rotation.
///
/// `x` and `y` are the content offset, like `UIScrollView.contentOffset`: the position of the viewport's top-left
/// corner in content space, before the rotation. The picture is rotated about the centre of the viewport.
///
/// The values of a viewport are always finite and within `sides`, `scales` and `offsets`. An assignment outside of
/// them is clamped; an assignment of a value that is not a number is ignored. No function of a viewport traps.
public struct Viewport: Hashable, Sendable {
  /// The width of the window in CSS pixels.
  public var width: Double {
    didSet { width = width.clamped(to: Self.sides, orIfNaN: oldValue) }
  }
  /// The height of the window in CSS pixels.
  public var height: Double {
    didSet { height = height.clamped(to: Self.sides, orIfNaN: oldValue) }
  }
  /// The zoom scale in CSS pixels per image pixel. At 1 an image pixel has the size of a CSS pixel.
  public var scale: Double {
    didSet { scale = scale.clamped(to: Self.scales, orIfNaN: oldValue) }
  }
  /// The content offset from the left in CSS pixels. It is negative if the viewport begins left of the content.
  public var x: Double {
    didSet { x = x.clamped(to: Self.offsets, orIfNaN: oldValue) }
  }
  /// The content offset from the top in CSS pixels. It is negative if the viewport begins above the content.
  public var y: Double {
    didSet { y = y.clamped(to: Self.offsets, orIfNaN: oldValue) }
  }
  /// The rotation and mirroring of the picture about the viewport's centre.
  public var rotation: Rotation

  /// The permitted sides of a viewport in CSS pixels: 2^-32 to 2^32.
  public static var sides: ClosedRange<Double> { 0x1p-32...0x1p32 }
  /// The permitted scales in CSS pixels per image pixel: 2^-128 to 2^128.
  public static var scales: ClosedRange<Double> { 0x1p-128...0x1p128 }
  /// The permitted content offsets in CSS pixels: ±2^256.
  public static var offsets: ClosedRange<Double> { -0x1p256...0x1p256 }

  /// Creates a viewport.
  ///
  /// Values outside `sides`, `scales` and `offsets` are clamped. A side that is not a number counts as the smallest
  /// one, a scale as 1, an offset as 0.
  ///
  /// - Parameters:
  ///   - width: the width of the window in CSS pixels.
  ///   - height: the height of the window in CSS pixels.
  ///   - scale: CSS pixels per image pixel.
  ///   - x: the content offset from the left in CSS pixels.
  ///   - y: the content offset from the top in CSS pixels.
  ///   - rotation: the rotation and mirroring of the picture about the viewport's centre.
  public init(width: Double, height: Double, scale: Double, x: Double, y: Double, rotation: Rotation = .none)
  {
    self.width = width.clamped(to: Self.sides, orIfNaN: Self.sides.lowerBound)
    self.height = height.clamped(to: Self.sides, orIfNaN: Self.sides.lowerBound)
    self.scale = scale.clamped(to: Self.scales, orIfNaN: 1)
    self.x = x.clamped(to: Self.offsets, orIfNaN: 0)
    self.y = y.clamped(to: Self.offsets, orIfNaN: 0)
    self.rotation = rotation
  }

  /// The image point at the centre of the viewport, image space. The rotation does not move it.
  public var imageCenter: Point { Point(x: (x + width / 2) / scale, y: (y + height / 2) / scale) }

  /// Converts a point from viewport space to image space. Inverse of `viewportPoint(ofImage:)`.
  public func imagePoint(ofViewport point: Point) -> Point {
    let flat = unrotated(point)
    return Point(x: (x + flat.x) / scale, y: (y + flat.y) / scale)
  }

  /// Converts a point from image space to viewport space. Inverse of `imagePoint(ofViewport:)`.
  public func viewportPoint(ofImage point: Point) -> Point {
    let flat = Point(x: point.x * scale - x, y: point.y * scale - y)
    if rotation.isIdentity { return flat }
    let rotated = rotation.apply(Point(x: flat.x - width / 2, y: flat.y - height / 2))
    return Point(x: rotated.x + width / 2, y: rotated.y + height / 2)
  }

  /// Converts a point from viewport space to its place if the picture were not rotated.
  func unrotated(_ point: Point) -> Point {
    if rotation.isIdentity { return point }
    let flat = rotation.undo(Point(x: point.x - width / 2, y: point.y - height / 2))
    return Point(x: flat.x + width / 2, y: flat.y + height / 2)
  }
}

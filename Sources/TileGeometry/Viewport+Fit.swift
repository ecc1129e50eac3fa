/// The ways in which an image fits a viewport.
public enum Fit: Hashable, Sendable, CaseIterable {
  /// The whole image is visible.
  case contain
  /// The image fills the whole viewport.
  case cover
  /// The image is as wide as the viewport.
  case width
  /// An image pixel has the size of a CSS pixel.
  case none
}

/// The smallest and the largest scale that a viewer permits, in CSS pixels per image pixel.
public struct ScaleLimits: Hashable, Sendable {
  /// The smallest scale in CSS pixels per image pixel, above 0.
  public let minimum: Double
  /// The largest scale in CSS pixels per image pixel, not below `minimum`.
  public let maximum: Double

  /// Creates limits from two scales in CSS pixels per image pixel.
  ///
  /// Returns `nil` unless `minimum` ≤ `maximum` and both are within `Viewport.scales`.
  public init?(minimum: Double, maximum: Double) {
    guard minimum >= Viewport.scales.lowerBound, minimum <= maximum, maximum <= Viewport.scales.upperBound
    else { return nil }
    self.minimum = minimum
    self.maximum = maximum
  }

  /// Creates the usual limits of a viewer. The smallest scale shows the whole image. The largest is a multiple of it,
  /// or full resolution if that is larger.
  ///
  /// - Parameters:
  ///   - image: the size of the image at full resolution.
  ///   - width: the width of the window in CSS pixels, clamped to `Viewport.sides`.
  ///   - height: the height of the window in CSS pixels, clamped to `Viewport.sides`.
  ///   - rotation: the rotation of the picture.
  ///   - insets: CSS pixels from the window's edges that are kept free.
  ///   - magnification: the multiple; a value below 1 or not a number counts as 1.
  public init(
    containing image: PixelSize, width: Double, height: Double, rotation: Rotation = .none,
    insets: Insets = .zero,
    magnification: Double = 16
  ) {
    let viewport = Viewport(
      fitting: image, .contain, width: width, height: height, rotation: rotation, insets: insets)
    minimum = viewport.scale
    let multiple = magnification.clamped(to: 1...Viewport.scales.upperBound, orIfNaN: 1)
    maximum = min(max(1, multiple * minimum), Viewport.scales.upperBound)
  }

  /// Returns the permitted scale that is nearest to `scale`. A scale that is not a number becomes `minimum`.
  ///
  /// - Parameter scale: CSS pixels per image pixel.
  public func limit(_ scale: Double) -> Double { scale.clamped(to: minimum...maximum, orIfNaN: minimum) }
}

extension Viewport {
  /// Returns the scale at which an image, rotated, fits a window, in CSS pixels per image pixel within `scales`.
  ///
  /// - Parameters:
  ///   - fit: the way in which the image fits the window.
  ///   - image: the size of the image at full resolution.
  ///   - width: the width of the window in CSS pixels. A value that is not above 0 counts as the smallest side.
  ///   - height: the height of the window in CSS pixels. A value that is not above 0 counts as the smallest side.
  ///   - rotation: the rotation of the picture.
  public static func scale(
    _ fit: Fit, image: PixelSize, width: Double, height: Double, rotation: Rotation = .none
  ) -> Double {
    let width = width.clamped(to: sides, orIfNaN: sides.lowerBound)
    let height = height.clamped(to: sides, orIfNaN: sides.lowerBound)
    let (imageWidth, imageHeight) = (Double(image.width), Double(image.height))
    switch fit {
    case .none: return 1
    case .contain:
      let seen = rotation.bounds(imageWidth, imageHeight)
      return min(width / seen.width, height / seen.height)
    case .width:
      return width / rotation.bounds(imageWidth, imageHeight).width
    case .cover:
      let reach = rotation.bounds(width, height)
      return max(reach.width / imageWidth, reach.height / imageHeight)
    }
  }

  /// Creates a viewport with the middle of the image in the middle of the area within the insets.
  ///
  /// - Parameters:
  ///   - image: the size of the image at full resolution.
  ///   - fit: the way in which the image fits that area.
  ///   - width: the width of the window in CSS pixels, clamped to `sides`.
  ///   - height: the height of the window in CSS pixels, clamped to `sides`.
  ///   - rotation: the rotation and mirroring of the picture.
  ///   - insets: CSS pixels from the window's edges that are kept free.
  public init(
    fitting image: PixelSize, _ fit: Fit, width: Double, height: Double, rotation: Rotation = .none,
    insets: Insets = .zero
  ) {
    self.init(width: width, height: height, scale: 1, x: 0, y: 0, rotation: rotation)
    let area = area(within: insets)
    scale = Self.scale(fit, image: image, width: area.width, height: area.height, rotation: rotation)
    self = placing(Point(x: Double(image.width) / 2, y: Double(image.height) / 2), at: area.center)
  }
}

/// How a viewport takes its scale from the image.
public enum Fit: String, Hashable, Sendable, CaseIterable {
  /// The whole image is seen.
  case contain
  /// The whole viewport is filled.
  case cover
  /// The image is as wide as the viewport.
  case width
  /// One image pixel is one CSS pixel.
  case none
}

/// The least and the greatest scale a viewer allows, CSS pixels per image pixel.
public struct ScaleLimits: Hashable, Sendable {
  /// The least scale, above 0.
  public let minimum: Double
  /// The greatest scale, not below `minimum`.
  public let maximum: Double

  /// Limits as given; nil unless 0 < minimum ≤ maximum and both are finite.
  public init?(minimum: Double, maximum: Double) {
    guard minimum > 0, minimum <= maximum, maximum.isFinite else { return nil }
    self.minimum = minimum
    self.maximum = maximum
  }

  /// A viewer's usual limits: from fit-contain to 16 times that, or to full resolution where that is more.
  public init(containing image: PixelSize, width: Double, height: Double, turn: Turn = .none) {
    minimum = Viewport.scale(.contain, image: image, width: width, height: height, turn: turn)
    maximum = max(1, 16 * minimum)
  }

  /// The allowed scale that is nearest to `scale`.
  public func limit(_ scale: Double) -> Double { min(max(scale, minimum), maximum) }
}

extension Viewport {
  /// The scale at which the image, turned, fits a window as asked.
  ///
  /// - Parameters:
  ///   - fit: how the image takes the window's size.
  ///   - image: full resolution.
  ///   - width: of the window, CSS pixels.
  ///   - height: of the window, CSS pixels.
  ///   - turn: how the picture is mirrored and turned.
  public static func scale(
    _ fit: Fit, image: PixelSize, width: Double, height: Double, turn: Turn = .none
  ) -> Double {
    let (imageWidth, imageHeight) = (Double(image.width), Double(image.height))
    switch fit {
    case .none: return 1
    case .contain:
      let seen = turn.bounds(imageWidth, imageHeight)
      return min(width / seen.width, height / seen.height)
    case .width:
      return width / turn.bounds(imageWidth, imageHeight).width
    case .cover:
      let reach = turn.bounds(width, height)
      return max(reach.width / imageWidth, reach.height / imageHeight)
    }
  }

  /// A window with the image's middle in its own, scaled as `fit` says.
  public init(fitting image: PixelSize, _ fit: Fit, width: Double, height: Double, turn: Turn = .none) {
    let scale = Self.scale(fit, image: image, width: width, height: height, turn: turn)
    self.init(
      width: width, height: height, scale: scale,
      x: (Double(image.width) * scale - width) / 2, y: (Double(image.height) * scale - height) / 2,
      turn: turn)
  }
}

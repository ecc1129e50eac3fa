/// The size of an image, a level or a tile in whole pixels. Both sides are at least 1.
public struct PixelSize: Hashable, Sendable {
  /// The extent from left to right in pixels, at least 1.
  public let width: Int
  /// The extent from top to bottom in pixels, at least 1.
  public let height: Int

  /// Creates a size in whole pixels.
  ///
  /// Returns `nil` unless both sides are at least 1.
  public init?(width: Int, height: Int) {
    guard width >= 1, height >= 1 else { return nil }
    self.width = width
    self.height = height
  }

  /// Creates a size from sides that are known to be at least 1.
  init(unchecked width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }
}

/// A rectangle of whole pixels in image space or level space; the property that contains it states which.
public struct PixelRect: Hashable, Sendable {
  /// The distance in pixels from the left edge of the space to the left edge of the rectangle.
  public let x: Int
  /// The distance in pixels from the top edge of the space to the top edge of the rectangle.
  public let y: Int
  /// The extent from left to right in pixels.
  public let width: Int
  /// The extent from top to bottom in pixels.
  public let height: Int

  /// Creates a rectangle from its top-left corner and its size. The values are stored unchecked.
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }
}

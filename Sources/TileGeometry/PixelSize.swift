/// The extent of an image, a level or a tile, in whole pixels; both sides are at least 1.
public struct PixelSize: Hashable, Sendable {
  /// The extent from left to right, at least 1.
  public let width: Int
  /// The extent from top to bottom, at least 1.
  public let height: Int

  /// A size of whole pixels; nil unless both sides are at least 1.
  public init?(width: Int, height: Int) {
    guard width >= 1, height >= 1 else { return nil }
    (self.width, self.height) = (width, height)
  }

  /// For sides known to be at least 1.
  init(unchecked width: Int, _ height: Int) { (self.width, self.height) = (width, height) }
}

/// A rectangle of whole pixels; the space (image, level) is in the name of what holds it.
public struct PixelRect: Hashable, Sendable {
  /// Pixels between the space's left edge and the rectangle's.
  public let x: Int
  /// Pixels between the space's top edge and the rectangle's.
  public let y: Int
  /// The extent from left to right, in pixels.
  public let width: Int
  /// The extent from top to bottom, in pixels.
  public let height: Int

  /// A rectangle by its top-left corner and its extent; nothing is checked.
  public init(x: Int, y: Int, width: Int, height: Int) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }
}

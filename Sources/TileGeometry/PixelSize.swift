/// The extent of an image, a level or a tile, in whole pixels; both sides are at least 1.
public struct PixelSize: Hashable, Sendable {
  public let width: Int
  public let height: Int

  /// Nil unless both sides are at least 1.
  public init?(width: Int, height: Int) {
    guard width >= 1, height >= 1 else { return nil }
    self.width = width
    self.height = height
  }

  /// For sides known to be at least 1.
  init(unchecked width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }
}

/// A rectangle of whole pixels; the space (image, level) is in the name of what holds it.
public struct PixelRect: Hashable, Sendable {
  public let x: Int
  public let y: Int
  public let width: Int
  public let height: Int

  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }
}

import ZigguratImaging

/// The reason why a picture could not be rendered: a missing or damaged tile, or an encoder's error.
package struct RenderError: Error, Hashable, CustomStringConvertible {
  package let description: String
  /// Whether the pyramid is whole, but the picture would have to be made from too much of it.
  package let isOutOfReach: Bool
  /// Whether a tile of the archive is missing or damaged.
  package let isDamage: Bool

  /// Whether neither the picture nor its archive is the cause: a retry may succeed later.
  package let isTemporary: Bool

  init(
    _ description: String, isOutOfReach: Bool = false, isDamage: Bool = false, isTemporary: Bool = false
  ) {
    self.description = description
    self.isOutOfReach = isOutOfReach
    self.isDamage = isDamage
    self.isTemporary = isTemporary
  }

  /// No client waits for the picture any more.
  static let cancelled = RenderError("the picture is not wanted any more")

  init(_ error: ImagingError) { self.init(error.description) }
}

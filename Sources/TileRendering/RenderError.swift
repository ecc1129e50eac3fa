import ZigguratImaging

/// Why a picture could not be made: a tile that is missing or damaged, or an encoder's refusal.
package struct RenderError: Error, Hashable, CustomStringConvertible {
  package let description: String
  /// The pyramid is whole, but what is asked for would have to be made from too much of it.
  package let isOutOfReach: Bool
  /// A tile of the archive is not there or is damaged.
  package let isFault: Bool

  /// Neither the picture nor its archive is to blame: the same may be had later.
  package let isTemporary: Bool

  init(
    _ description: String, isOutOfReach: Bool = false, isFault: Bool = false, isTemporary: Bool = false
  ) {
    self.description = description
    self.isOutOfReach = isOutOfReach
    self.isFault = isFault
    self.isTemporary = isTemporary
  }

  /// Nobody waits for the picture any more.
  static let cancelled = RenderError("the picture is not wanted any more")

  init(_ error: ImagingError) { self.init(error.description) }
}

import Imaging

/// Why a picture could not be made: a tile that is missing or damaged, or an encoder's refusal.
public struct RenderError: Error, Hashable, CustomStringConvertible {
  public let description: String
  /// The pyramid is whole, but what is asked for would have to be made from too much of it.
  public let isOutOfReach: Bool

  init(_ description: String, isOutOfReach: Bool = false) {
    (self.description, self.isOutOfReach) = (description, isOutOfReach)
  }

  init(_ error: ImagingError) { self.init(error.description) }
}

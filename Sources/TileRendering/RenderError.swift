import Imaging

/// Why a picture could not be made: a tile that is missing or damaged, or an encoder's refusal.
public struct RenderError: Error, Hashable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }

  init(_ error: ImagingError) { self.init(error.description) }
}

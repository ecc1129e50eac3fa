import Imaging

/// The way a level is made of the one above it, which has twice its pixels on each side.
public struct Downsampling: Hashable, Sendable {
  /// The word for it on the command line.
  public let name: String

  /// `mode` for label images that say so (`LabelImage`), `mean` for all others.
  public static let auto = Downsampling(known: "auto")
  /// The mean of 2×2 pixels.
  public static let mean = Downsampling(known: "mean")
  /// The upper left of 2×2 pixels.
  public static let nearest = Downsampling(known: "nearest")
  /// The most frequent of 2×2 pixels; of several the first, row by row.
  public static let mode = Downsampling(known: "mode")

  /// All that there are.
  public static let all: [Downsampling] = [.auto, .mean, .nearest, .mode]

  /// The downsampling of that name; nil for any other word.
  public init?(name: String) {
    guard let known = Self.all.first(where: { $0.name == name }) else { return nil }
    self = known
  }

  private init(known name: String) { self.name = name }
}

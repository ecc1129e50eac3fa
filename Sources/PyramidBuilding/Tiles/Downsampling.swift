import ZigguratImaging

/// The rule by which a pixel of a level is made from 2×2 pixels of the next finer level.
public struct Downsampling: NamedChoice, Hashable, Sendable {
  /// The word for it on the command line.
  package let name: String

  /// `mode` for images whose file says that their values are labels, `mean` for all others. The default.
  public static let auto = Downsampling(known: "auto")
  /// The mean of the sRGB values, as `vips dzsave` computes it.
  public static let mean = Downsampling(known: "mean")
  /// The mean in linear light.
  public static let linear = Downsampling(known: "linear")
  /// The upper left pixel.
  public static let nearest = Downsampling(known: "nearest")
  /// The most frequent pixel; of equally frequent ones the first, row by row.
  public static let mode = Downsampling(known: "mode")

  /// All methods.
  package static let all: [Downsampling] = [.auto, .mean, .linear, .nearest, .mode]

  private init(known name: String) { self.name = name }
}

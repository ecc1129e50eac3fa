/// A rule for colours that sRGB cannot show (ICC.1:2010, section 0.5).
///
/// Profiles that consist of a matrix, as most RGB profiles do, give the same for all intents but `absolute`.
public struct RenderingIntent: NamedChoice, Hashable, Sendable {
  package let name: String

  /// Colours keep their relations to each other. The default.
  public static let perceptual = RenderingIntent(known: "perceptual")
  /// Colours are kept relative to the medium's white. Those outside sRGB become the nearest that it has.
  public static let relative = RenderingIntent(known: "relative")
  /// Saturation is kept at the cost of hue and lightness.
  public static let saturation = RenderingIntent(known: "saturation")
  /// The same as `relative`, except that the medium's white keeps its tint.
  public static let absolute = RenderingIntent(known: "absolute")

  package static let all: [RenderingIntent] = [.perceptual, .relative, .saturation, .absolute]

  private init(known name: String) { self.name = name }
}

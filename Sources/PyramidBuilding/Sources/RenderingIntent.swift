/// How colours that sRGB cannot show are brought into it (ICC.1:2010, 0.5). Profiles made of a matrix, as
/// most of RGB are, give the same for all but `absolute`.
package struct RenderingIntent: Hashable, Sendable {
  package let name: String

  /// Colours keep their relations: nothing that differed becomes one. What pictures are made with.
  package static let perceptual = RenderingIntent(known: "perceptual")
  /// Colours stay what they are beside the medium's white; those out of reach become the nearest.
  package static let relative = RenderingIntent(known: "relative")
  /// Vivid colours stay vivid.
  package static let saturation = RenderingIntent(known: "saturation")
  /// As `relative`, and the medium's white keeps its tint.
  package static let absolute = RenderingIntent(known: "absolute")

  package static let all: [RenderingIntent] = [.perceptual, .relative, .saturation, .absolute]

  package init?(name: String) {
    guard let known = Self.all.first(where: { $0.name == name }) else { return nil }
    self = known
  }

  private init(known name: String) { self.name = name }
}

/// How finely JPEG tiles hold colour beside brightness.
package struct Subsampling: Hashable, Sendable {
  package let name: String

  /// As libvips: 4:2:0 below quality 90, 4:4:4 from there on.
  package static let auto = Subsampling(known: "auto")
  /// Half the columns and rows.
  package static let half = Subsampling(known: "420")
  /// Every pixel: for drawings, maps and text in colour.
  package static let none = Subsampling(known: "444")

  package static let all: [Subsampling] = [.auto, .half, .none]

  package init?(name: String) {
    guard let known = Self.all.first(where: { $0.name == name }) else { return nil }
    self = known
  }

  private init(known name: String) { self.name = name }

  func halvesChroma(atQuality quality: Int) -> Bool { self == .half || (self == .auto && quality < 90) }
}

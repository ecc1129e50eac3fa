/// How finely JPEG tiles hold colour beside brightness.
public struct Subsampling: Hashable, Sendable {
  public let name: String

  /// As libvips: 4:2:0 below quality 90, 4:4:4 from there on.
  public static let auto = Subsampling(known: "auto")
  /// Half the columns and rows.
  public static let half = Subsampling(known: "420")
  /// Every pixel: for drawings, maps and text in colour.
  public static let none = Subsampling(known: "444")

  public static let all: [Subsampling] = [.auto, .half, .none]

  public init?(name: String) {
    guard let known = Self.all.first(where: { $0.name == name }) else { return nil }
    self = known
  }

  private init(known name: String) { self.name = name }

  func halvesChroma(atQuality quality: Int) -> Bool { self == .half || (self == .auto && quality < 90) }
}

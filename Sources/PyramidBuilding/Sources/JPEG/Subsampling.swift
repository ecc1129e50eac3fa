/// The resolution of colour (chroma) in JPEG tiles, relative to that of brightness (luma).
public struct Subsampling: Hashable, Sendable {
  package let name: String

  /// `half` below quality 90, `none` from there on, as libvips does. The default.
  public static let auto = Subsampling(known: "auto")
  /// Half the columns and rows (4:2:0).
  public static let half = Subsampling(known: "420")
  /// Every pixel (4:4:4), for drawings, maps and coloured text.
  public static let none = Subsampling(known: "444")

  private init(known name: String) { self.name = name }

  func halvesChroma(atQuality quality: Int) -> Bool { self == .half || (self == .auto && quality < 90) }
}

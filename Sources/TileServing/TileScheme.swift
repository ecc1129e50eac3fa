import TileGeometry

/// How a tile's URL is written.
public struct TileScheme: Hashable, Sendable {
  public let name: String

  public static let deepZoom = TileScheme(known: "dzi")
  public static let iiif3 = TileScheme(known: "iiif3")
  public static let iiif2 = TileScheme(known: "iiif2")
  public static let xyz = TileScheme(known: "xyz")

  /// Those that the server answers.
  static let all: [TileScheme] = [.deepZoom]

  private init(known name: String) { self.name = name }
}

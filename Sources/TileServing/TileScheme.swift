import TileGeometry

/// How a tile's URL is written.
public struct TileScheme: Hashable, Sendable {
  public let name: String

  public static let deepZoom = TileScheme(known: "dzi")

  /// Those that the server answers.
  static let all: [TileScheme] = [.deepZoom]

  private init(known name: String) { self.name = name }
}

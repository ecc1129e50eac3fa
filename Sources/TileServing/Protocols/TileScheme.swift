import TileGeometry

/// How a tile's URL is written.
package struct TileScheme: Hashable, Sendable {
  package let name: String

  package static let deepZoom = TileScheme(known: "dzi")
  package static let iiif3 = TileScheme(known: "iiif3")
  package static let iiif2 = TileScheme(known: "iiif2")
  package static let xyz = TileScheme(known: "xyz")

  /// Those that the server answers.
  static let all: [TileScheme] = [.deepZoom, .iiif3, .iiif2, .xyz]

  private init(known name: String) { self.name = name }

  /// The pyramid whose tiles the scheme can name: Deep Zoom alone knows overlap.
  func grid(of pyramid: Pyramid) -> Pyramid {
    self == .deepZoom
      ? pyramid : Pyramid(imageSize: pyramid.imageSize, tileSize: pyramid.tileSize) ?? pyramid
  }

  /// The coarsest level whose tiles have URLs.
  func coarsestLevel(of pyramid: Pyramid) -> Int { self == .xyz ? XYZGrid(pyramid).baseLevel : 0 }
}

import TileGeometry

/// A mapping of tiles to files, so that a web server without support for tiles can serve them.
protocol StaticLayout: Sendable {
  /// The levels of the exported tiles, which are the archive's, and their tile size.
  var pyramid: Pyramid { get }
  /// The coarsest level in the layout.
  var firstLevel: Int { get }
  /// Returns the number of tiles of a level from left to right.
  func columns(ofLevel level: Int) -> Int
  /// Returns the number of tiles of a level from top to bottom.
  func rows(ofLevel level: Int) -> Int
  /// Returns the pixels of a tile, in the space of its level; nil if the layout has no such tile.
  func rectangle(of tile: TileAddress) -> PixelRect?
  /// Whether tiles at the right and lower edges are full size, too, padded with the background.
  var padsEdges: Bool { get }
  /// Returns the relative names of a tile's file: several if clients request the tile by several names. Empty if it has
  /// the name of another tile, or if no client requests it. No two tiles have the same name.
  func names(of tile: TileAddress) -> [String]
  /// Whether the export has, or may have, a file or folder of this name directly in its folder.
  func holds(_ name: String) -> Bool
  /// Descriptions of the image, by name.
  var documents: [(name: String, text: String)] { get }
}

extension StaticLayout {
  var padsEdges: Bool { false }
  var firstLevel: Int { pyramid.finestSingleTileLevel }
  func columns(ofLevel level: Int) -> Int { pyramid.columns(ofLevel: level) }
  func rows(ofLevel level: Int) -> Int { pyramid.rows(ofLevel: level) }
  func rectangle(of tile: TileAddress) -> PixelRect? { pyramid.rectangle(of: tile) }
}

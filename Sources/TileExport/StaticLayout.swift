import TileGeometry

/// Where a layout has its files, so that a web server that knows nothing of tiles can serve them.
protocol StaticLayout: Sendable {
  /// The levels of the exported tiles, which are the archive's, and their tile size.
  var pyramid: Pyramid { get }
  /// The coarsest level that the layout has.
  var firstLevel: Int { get }
  /// The number of tiles of a level from left to right.
  func columns(ofLevel level: Int) -> Int
  /// The number of tiles of a level from top to bottom.
  func rows(ofLevel level: Int) -> Int
  /// The pixels that a tile holds, in the space of its level; nil if the layout has no such tile.
  func rectangle(of tile: TileAddress) -> PixelRect?
  /// Tiles at the right and lower edges are full size, too, filled up with the background.
  var padsEdges: Bool { get }
  /// The names of a tile's file, relative: several if clients request the tile by several names, none if it has the name
  /// of another tile or if no client requests it. No two tiles have the same name.
  func names(of tile: TileAddress) -> [String]
  /// Whether a file or folder of this name is, or may be, directly in the folder of the export.
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

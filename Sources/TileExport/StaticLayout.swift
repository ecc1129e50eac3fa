import TileGeometry

/// Where a layout has its files, so that a web server that knows nothing of tiles can serve them.
protocol StaticLayout: Sendable {
  /// The grid of the exported tiles; its levels are the archive's.
  var pyramid: Pyramid { get }
  /// The coarsest level that the layout has.
  var firstLevel: Int { get }
  /// Tiles at the right and lower edges are full size, too, filled up with the background.
  var padsEdges: Bool { get }
  /// Relative; more than one where clients ask for the same tile by several names.
  func names(of tile: TileAddress) -> [String]
  /// Descriptions of the image, by name.
  var documents: [(name: String, text: String)] { get }
}

extension StaticLayout {
  var padsEdges: Bool { false }
  var firstLevel: Int { pyramid.finestSingleTileLevel }
}

package import TileGeometry

/// An image's tiles in IIP: each resolution is half the next, rounded down, as in iipsrv's pyramids and its clients.
/// Tiles are numbered row by row.
///
/// A tile is the stored tile of the same place. At the right and lower edges it may show one column or row of pixels
/// more than the resolution has.
package struct IIPGrid {
  private let pyramid: Pyramid
  /// A level for each resolution; a side has at least one pixel.
  package let resolutions: RoundDownPyramid

  package init(_ pyramid: Pyramid) {
    self.pyramid = pyramid
    resolutions = RoundDownPyramid(pyramid, tileSize: pyramid.tileSize, leastSide: 1)
  }

  func place(resolution: Int, tile: Int) -> TileResolution {
    guard resolution < resolutions.levelCount else { return .notFound(.noSuchTile) }
    let (row, column) = tile.quotientAndRemainder(dividingBy: resolutions.columns(ofLevel: resolution))
    guard row < resolutions.rows(ofLevel: resolution) else { return .notFound(.noSuchTile) }
    let level = resolutions.storedLevel(ofLevel: resolution)
    if pyramid.overlap == 0 { return .stored(TileAddress(level: level, column: column, row: row)) }
    let (stored, side) = (pyramid.size(ofLevel: level), pyramid.tileSize)
    let (x, y) = (column * side, row * side)
    let (width, height) = (min(side, stored.width - x), min(side, stored.height - y))
    return .crop(
      PixelRect(x: x, y: y, width: width, height: height), level: level,
      paddedTo: PixelSize(width: width, height: height)!)
  }
}

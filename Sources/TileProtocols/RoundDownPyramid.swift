import TileGeometry

/// An image's tiles in protocols that halve levels rounding down. Level 0 is the finest level whose longer side fits in
/// one tile; the last level is the image itself.
///
/// Stored levels are rounded up. A level here is the stored level of the same scale, without the last column or row of
/// pixels if the two sizes differ.
package struct RoundDownPyramid: Sendable {
  private let pyramid: Pyramid
  /// Pixels along a tile's side.
  let tileSize: Int
  /// The minimum length of a side in pixels: 1, or 0 if a side may be halved away.
  private let leastSide: Int
  package let levelCount: Int

  init(_ pyramid: Pyramid, tileSize: Int, leastSide: Int) {
    self.pyramid = pyramid
    self.tileSize = tileSize
    self.leastSide = leastSide
    var (side, count) = (max(pyramid.imageSize.width, pyramid.imageSize.height), 1)
    while side > tileSize {
      side >>= 1
      count += 1
    }
    levelCount = count
  }

  /// Returns the size of the level in pixels.
  package func size(ofLevel level: Int) -> (width: Int, height: Int) {
    let shift = levelCount - 1 - level
    return (
      max(leastSide, pyramid.imageSize.width >> shift), max(leastSide, pyramid.imageSize.height >> shift)
    )
  }

  package func columns(ofLevel level: Int) -> Int { (size(ofLevel: level).width + tileSize - 1) / tileSize }

  package func rows(ofLevel level: Int) -> Int { (size(ofLevel: level).height + tileSize - 1) / tileSize }

  func tileCount(ofLevel level: Int) -> Int { columns(ofLevel: level) * rows(ofLevel: level) }

  /// Returns the pyramid's level of the same scale.
  package func storedLevel(ofLevel level: Int) -> Int { pyramid.topLevel - (levelCount - 1 - level) }
}

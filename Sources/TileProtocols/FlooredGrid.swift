import TileGeometry

/// An image's tiles as protocols count them that halve levels rounding down: level 0 is the finest whose longer side one
/// tile holds, the last one is the image itself.
///
/// Stored levels are rounded up: a level here is the stored one of the same scale, less the last column or row of pixels
/// where those differ.
package struct FlooredGrid: Sendable {
  private let pyramid: Pyramid
  /// Pixels along a tile's side.
  let tileSize: Int
  /// Pixels that a side has at least: 1, or 0 where a side may be halved away.
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

  /// Level pixels.
  package func size(ofLevel level: Int) -> (width: Int, height: Int) {
    let shift = levelCount - 1 - level
    return (
      max(leastSide, pyramid.imageSize.width >> shift), max(leastSide, pyramid.imageSize.height >> shift)
    )
  }

  package func columns(ofLevel level: Int) -> Int { (size(ofLevel: level).width + tileSize - 1) / tileSize }

  package func rows(ofLevel level: Int) -> Int { (size(ofLevel: level).height + tileSize - 1) / tileSize }

  func tileCount(ofLevel level: Int) -> Int { columns(ofLevel: level) * rows(ofLevel: level) }

  /// The pyramid's level of the same scale.
  package func storedLevel(ofLevel level: Int) -> Int { pyramid.topLevel - (levelCount - 1 - level) }
}

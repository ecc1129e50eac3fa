package import TileGeometry

/// The requests that fall on the grid of stored tiles (IIIF Image API 3.0, implementation notes, section 5).
package enum IIIFGrid {
  /// Returns the tile whose pixels are this region of the image at this size, or nil off the grid.
  ///
  /// A part of the image with only its width given is a tile by the arithmetic of the implementation notes. That
  /// arithmetic rounds both sides up. The whole image has to keep its proportions within a pixel: many levels of a
  /// narrow image have the same rounded width.
  ///
  /// - Parameters:
  ///   - region: image space, inside the image.
  ///   - height: nil if it follows from the width.
  static func tile(_ pyramid: Pyramid, _ region: PixelRect, width: Int, height: Int?) -> TileAddress? {
    let (image, side) = (pyramid.imageSize, pyramid.tileSize)
    for shift in 0..<pyramid.levelCount {
      guard Pyramid.halved(region.width, times: shift) == width else { continue }
      let rows = Pyramid.halved(region.height, times: shift)
      if let height {
        guard height == rows else { continue }
      } else if region.width == image.width, region.height == image.height {
        guard abs(rows * region.width - width * region.height) < region.width else { continue }
      }
      // A side this long cannot be distinguished from a longer one.
      let (span, overflow) = side.multipliedReportingOverflow(by: 1 << shift)
      guard !overflow else { return nil }
      guard region.x % span == 0, region.y % span == 0, region.width == min(span, image.width - region.x),
        region.height == min(span, image.height - region.y)
      else { continue }
      // Tiles that overlap their neighbours contain more than the request asks for; a single tile has no neighbours.
      guard pyramid.overlap == 0 || (span >= image.width && span >= image.height) else { return nil }
      return TileAddress(level: pyramid.topLevel - shift, column: region.x / span, row: region.y / span)
    }
    return nil
  }

  /// Returns the part of the image (image space) that `source` (level space) shows.
  package static func region(of source: PixelRect, level: Int, in pyramid: Pyramid) -> PixelRect {
    let (shift, image) = (pyramid.shift(ofLevel: level), pyramid.imageSize)
    let (x, y) = (source.x << shift, source.y << shift)
    // The last level pixel of a side may be covered only partly.
    return PixelRect(
      x: x, y: y, width: min(source.width << shift, image.width - x),
      height: min(source.height << shift, image.height - y))
  }

  /// Returns the factors by which the levels are smaller than the image, finest first.
  package static func scaleFactors(of pyramid: Pyramid, from coarsest: Int) -> [Int] {
    (0..<pyramid.levelCount - coarsest).map { 1 << $0 }
  }
}

package import TileGeometry

/// Which requests fall on the grid of stored tiles (IIIF Image API 3.0, implementation notes, section 5).
package enum IIIFGrid {
  /// The tile whose pixels are that region of the image at that size, or nil off the grid.
  ///
  /// A part of the image of the given width alone is a tile by the arithmetic of the implementation notes, in which
  /// both sides are rounded up. The whole image has to keep its proportions within a pixel: many levels of a narrow
  /// image have the same rounded width.
  ///
  /// - Parameters:
  ///   - region: inside the image.
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
      // A side that reaches this far cannot be told from one that is larger.
      let (span, overflow) = side.multipliedReportingOverflow(by: 1 << shift)
      guard !overflow else { return nil }
      guard region.x % span == 0, region.y % span == 0, region.width == min(span, image.width - region.x),
        region.height == min(span, image.height - region.y)
      else { continue }
      // Tiles that reach into their neighbours hold more than was asked for; one alone has none.
      guard pyramid.overlap == 0 || (span >= image.width && span >= image.height) else { return nil }
      return TileAddress(level: pyramid.topLevel - shift, column: region.x / span, row: region.y / span)
    }
    return nil
  }

  /// The part of the image that `source` shows, pixels of that level.
  package static func region(of source: PixelRect, level: Int, in pyramid: Pyramid) -> PixelRect {
    let (shift, image) = (pyramid.shift(ofLevel: level), pyramid.imageSize)
    let (x, y) = (source.x << shift, source.y << shift)
    // The last level pixel of a side may be covered but partly.
    return PixelRect(
      x: x, y: y, width: min(source.width << shift, image.width - x),
      height: min(source.height << shift, image.height - y))
  }

  /// By how much the levels are smaller than the image, finest first.
  package static func scaleFactors(of pyramid: Pyramid, from coarsest: Int) -> [Int] {
    (0..<pyramid.levelCount - coarsest).map { 1 << $0 }
  }
}

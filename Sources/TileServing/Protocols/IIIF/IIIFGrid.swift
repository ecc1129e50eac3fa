import TileGeometry

/// Which requests fall on the grid of stored tiles (IIIF Image API 3.0, implementation notes, section 5).
enum IIIFGrid {
  /// The tile whose pixels the request asks for, or nil off the grid.
  ///
  /// - Parameters:
  ///   - width: of the region, at most what the image has right of `x`; the same for `height`.
  ///   - sizeHeight: nil where it follows from the width.
  static func tile(
    _ pyramid: Pyramid, x: Int, y: Int, width: Int, height: Int, sizeWidth: Int, sizeHeight: Int?
  ) -> TileAddress? {
    let (image, side) = (pyramid.imageSize, pyramid.tileSize)
    guard x >= 0, y >= 0, width > 0, height > 0, x <= image.width - width, y <= image.height - height else {
      return nil
    }
    for shift in 0..<pyramid.levelCount {
      guard Pyramid.halved(width, times: shift) == sizeWidth else { continue }
      let rows = Pyramid.halved(height, times: shift)
      guard sizeHeight.map({ $0 == rows }) ?? true else { continue }
      // A side that reaches this far cannot be told from one that is larger.
      let (span, overflow) = side.multipliedReportingOverflow(by: 1 << shift)
      guard !overflow else { return nil }
      guard x % span == 0, y % span == 0, width == min(span, image.width - x),
        height == min(span, image.height - y)
      else { continue }
      let level = pyramid.topLevel - shift
      // Tiles that reach into their neighbours hold more than was asked for; one alone has none.
      guard pyramid.overlap == 0 || (span >= image.width && span >= image.height) else { return nil }
      return TileAddress(level: level, column: x / span, row: y / span)
    }
    return nil
  }
}

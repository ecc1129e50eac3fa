import TileGeometry

/// The level and the pixels from which a region is rendered.
struct RenderPlan: Hashable {
  let level: Int
  /// The pixels to read, in level space.
  let rectangle: PixelRect
  /// Whether the level's pixels are the picture's, so that nothing has to be scaled.
  let isExact: Bool

  /// The maximum number of pixels to compose. Above it, a coarser level is used. Only a picture that is distorted by a
  /// large factor ever needs that.
  static let pixelLimit = 1 << 27

  /// - Parameters:
  ///   - region: image space, inside the image.
  ///   - size: the size of the picture before its rotation, in pixels.
  init(_ pyramid: Pyramid, region: PixelRect, size: PixelSize) {
    var shift = 0
    while shift < pyramid.topLevel,
      Self.suffices(region.x, region.width, pyramid.imageSize.width, shift + 1, size.width),
      Self.suffices(region.y, region.height, pyramid.imageSize.height, shift + 1, size.height)
    {
      shift += 1
    }
    while shift < pyramid.topLevel,
      Pyramid.halved(region.width, times: shift)
        > Self.pixelLimit / Pyramid.halved(region.height, times: shift)
    {
      shift += 1
    }
    level = pyramid.topLevel - shift
    let full = pyramid.size(ofLevel: level)
    let (x, width, exactX) = Self.span(
      region.x, region.width, pyramid.imageSize.width, full.width, shift, size.width)
    let (y, height, exactY) = Self.span(
      region.y, region.height, pyramid.imageSize.height, full.height, shift, size.height)
    rectangle = PixelRect(x: x, y: y, width: width, height: height)
    isExact = exactX && exactY
  }

  /// Whether the level `shift` halvings below full resolution is fine enough along one side.
  ///
  /// If a region is on the level's grid, its last pixel counts as a whole one, because levels are rounded up. So the
  /// sizes that a client computes for a level are rendered from that level.
  private static func suffices(
    _ start: Int, _ length: Int, _ imageSide: Int, _ shift: Int, _ wanted: Int
  ) -> Bool {
    let (end, mask) = (start + length, (1 << shift) - 1)
    let isOnGrid = start & mask == 0 && (end & mask == 0 || end == imageSide)
    return isOnGrid ? Pyramid.halved(length, times: shift) >= wanted : length >> shift >= wanted
  }

  /// Returns start and length in level pixels. If the level has as many pixels as requested, they are used unscaled,
  /// moved by at most half a pixel.
  private static func span(
    _ start: Int, _ length: Int, _ imageSide: Int, _ levelSide: Int, _ shift: Int, _ wanted: Int
  ) -> (start: Int, length: Int, isExact: Bool) {
    let unit = Double(sign: .plus, exponent: -shift, significand: 1)
    let low = Double(start) * unit
    let high = start + length == imageSide ? Double(levelSide) : Double(start + length) * unit
    if abs(high - low - Double(wanted)) < 1, wanted <= levelSide {
      return (max(0, min(Int(low.rounded()), levelSide - wanted)), wanted, true)
    }
    let first = min(Int(low.rounded()), levelSide - 1)
    return (first, max(1, min(Int(high.rounded()), levelSide) - first), false)
  }
}

import TileGeometry

/// The mapping from the pixels of one level to a viewport's picture.
struct ViewportPlan {
  let level: Int
  /// The pixels to read, in level space; nil if nothing of the image is visible.
  let rectangle: PixelRect?
  /// The size of the picture in device pixels.
  let size: PixelSize
  /// Whether the image covers every pixel of the picture.
  let isFilled: Bool
  /// The transformation from pixels of `rectangle` to device pixels: x' = a·x + b·y + offset.x, and so on.
  let matrix: (Double, Double, Double, Double)
  let offset: (x: Double, y: Double)

  /// Device pixels for one pixel of the image. libvips's coordinates end at ten million, and half a dozen pixels are
  /// read. At this scale, the largest window shows some hundredths of a pixel.
  private static let maxResolution = 1e6

  init(_ pyramid: Pyramid, _ asked: Viewport, devicePixelRatio ratio: Double) {
    let viewport =
      asked.scale * ratio > Self.maxResolution ? asked.scaled(to: Self.maxResolution / ratio) : asked
    size = PixelSize(
      width: max(1, Int((viewport.width * ratio).rounded())),
      height: max(1, Int((viewport.height * ratio).rounded())))!
    let coverage = Coverage(pyramid: pyramid, viewport: viewport, devicePixelRatio: ratio)
    level = coverage.level
    let unit = 1 / pyramid.scale(ofLevel: level)
    let levelSize = pyramid.size(ofLevel: level)
    // An image of a millionth of a pixel is invisible, and libvips cannot invert that scale.
    let scale = viewport.scale * unit * ratio
    if let seen = coverage.visible, scale > 1e-6 {
      // Two pixels more than the visible ones, for interpolation at the edges.
      let left = max(0, Int((seen.x / unit).rounded(.down)) - 2)
      let top = max(0, Int((seen.y / unit).rounded(.down)) - 2)
      let right = min(levelSize.width, Int(((seen.x + seen.width) / unit).rounded(.up)) + 2)
      let bottom = min(levelSize.height, Int(((seen.y + seen.height) / unit).rounded(.up)) + 2)
      rectangle =
        left < right && top < bottom
        ? PixelRect(x: left, y: top, width: right - left, height: bottom - top) : nil
    } else {
      rectangle = nil
    }
    let (width, height) = (Double(pyramid.imageSize.width), Double(pyramid.imageSize.height))
    isFilled = [(0.0, 0.0), (viewport.width, 0), (0, viewport.height), (viewport.width, viewport.height)]
      .allSatisfy { corner in
        let point = viewport.imagePoint(ofViewport: Point(x: corner.0, y: corner.1))
        return point.x >= 0 && point.y >= 0 && point.x <= width && point.y <= height
      }
    func device(_ x: Double, _ y: Double) -> Point {
      let point = viewport.viewportPoint(ofImage: Point(x: x * unit, y: y * unit))
      return Point(x: point.x * ratio, y: point.y * ratio)
    }
    let rotation = viewport.rotation
    let mirror = rotation.isFlipped ? -1.0 : 1.0
    matrix = (
      mirror * rotation.cosine * scale, -rotation.sine * scale, mirror * rotation.sine * scale,
      rotation.cosine * scale
    )
    let origin = device(Double(rectangle?.x ?? 0), Double(rectangle?.y ?? 0))
    offset = (origin.x, origin.y)
  }
}

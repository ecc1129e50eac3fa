/// The part of image space that a viewport shows: a rectangle, rotated or not.
struct VisibleArea {
  /// The four corners in image space, in order around the area.
  private let corners: (Point, Point, Point, Point)
  /// The edges in image space if the area is rotated by a multiple of 90°.
  private let upright: (left: Double, top: Double, right: Double, bottom: Double)?

  init(_ viewport: Viewport) {
    let (width, height, scale) = (viewport.width, viewport.height, viewport.scale)
    if viewport.rotation.isQuarter {
      let lies = viewport.rotation.cosine == 0
      // Half the difference is exactly 0 unless the sides are swapped: the edges are then x / scale, unrounded.
      let shift = lies ? (width - height) / 2 : 0
      let (left, top) = (viewport.x + shift, viewport.y - shift)
      let (seenWidth, seenHeight) = lies ? (height, width) : (width, height)
      upright = (
        left / scale, top / scale, (left + seenWidth) / scale, (top + seenHeight) / scale
      )
    } else {
      upright = nil
    }
    corners = (
      viewport.imagePoint(ofViewport: Point(x: 0, y: 0)),
      viewport.imagePoint(ofViewport: Point(x: width, y: 0)),
      viewport.imagePoint(ofViewport: Point(x: width, y: height)),
      viewport.imagePoint(ofViewport: Point(x: 0, y: height))
    )
  }

  /// Returns the lowest and the highest y of the area within a band of x, image space.
  func verticalExtent(from low: Double, to high: Double) -> (low: Double, high: Double)? {
    if let upright {
      return upright.left < high && upright.right > low ? (upright.top, upright.bottom) : nil
    }
    return extent(from: low, to: high, along: { $0.x }, of: { $0.y })
  }

  /// Returns the lowest and the highest x of the area within a band of y, image space.
  func horizontalExtent(from low: Double, to high: Double) -> (low: Double, high: Double)? {
    if let upright {
      return upright.top < high && upright.bottom > low ? (upright.left, upright.right) : nil
    }
    return extent(from: low, to: high, along: { $0.y }, of: { $0.x })
  }

  /// Returns the box around the part of the area that lies on the image; `nil` if no part does.
  func bounds(on image: PixelSize) -> Rect? {
    let (width, height) = (Double(image.width), Double(image.height))
    guard let across = horizontalExtent(from: 0, to: height), let down = verticalExtent(from: 0, to: width)
    else { return nil }
    let (left, right) = (max(across.low, 0), min(across.high, width))
    let (top, bottom) = (max(down.low, 0), min(down.high, height))
    guard left < right, top < bottom else { return nil }
    return Rect(x: left, y: top, width: right - left, height: bottom - top)
  }

  /// Returns the interval that the area within a band covers on the other axis.
  ///
  /// A convex area cut to a band is convex, so that its projection on the other axis is one interval. A tile in that
  /// band meets the area if and only if it meets the interval.
  private func extent(
    from low: Double, to high: Double, along: (Point) -> Double, of across: (Point) -> Double
  ) -> (low: Double, high: Double)? {
    var result = (low: Double.infinity, high: -Double.infinity)
    func visit(_ a: Point, _ b: Point) {
      let (from, to) = along(a) <= along(b) ? (a, b) : (b, a)
      let (start, end) = (along(from), along(to))
      guard start <= high, end >= low else { return }
      let (first, last) = (across(from), across(to))
      func at(_ position: Double) -> Double { first + (position - start) / (end - start) * (last - first) }
      let p = start < low ? at(low) : first
      let q = end > high ? at(high) : last
      result.low = min(result.low, p, q)
      result.high = max(result.high, p, q)
    }
    visit(corners.0, corners.1)
    visit(corners.1, corners.2)
    visit(corners.2, corners.3)
    visit(corners.3, corners.0)
    return result.low < result.high ? result : nil
  }
}

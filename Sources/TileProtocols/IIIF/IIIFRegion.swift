import TileGeometry

/// The region of an image request (IIIF Image API 3.0, section 4.1).
enum IIIFRegion: Hashable {
  case full
  case square
  case pixels(x: Int, y: Int, width: Int, height: Int)
  case percent(x: Double, y: Double, width: Double, height: Double)

  /// Creates a region from its part of the path; nil if the text is malformed.
  init?(_ text: UnsafeRawBufferPointer) {
    var reader = PathReader(text)
    // The form of tiles is first: nearly all regions have it.
    if let x = reader.digits() {
      let comma = UInt8(ascii: ",")
      guard reader.skip(comma), let y = reader.digits(), reader.skip(comma), let width = reader.digits(),
        reader.skip(comma), let height = reader.digits()
      else { return nil }
      self = .pixels(x: x, y: y, width: width, height: height)
    } else if reader.skip("full") {
      self = .full
    } else if reader.skip("square") {
      self = .square
    } else if reader.skip("pct:") {
      let comma = UInt8(ascii: ",")
      guard let x = reader.part(before: comma).flatMap(IIIFNumber.decimal),
        let y = reader.part(before: comma).flatMap(IIIFNumber.decimal),
        let width = reader.part(before: comma).flatMap(IIIFNumber.decimal),
        let height = IIIFNumber.decimal(reader.rest)
      else { return nil }
      self = .percent(x: x, y: y, width: width, height: height)
      return
    } else {
      return nil
    }
    guard reader.isAtEnd else { return nil }
  }

  /// Returns the region's rectangle in image space, cut at the image's edges.
  func rectangle(in image: PixelSize) throws(TileRequestError) -> PixelRect {
    switch self {
    case .full: return PixelRect(x: 0, y: 0, width: image.width, height: image.height)
    case .square:
      let side = min(image.width, image.height)
      return PixelRect(x: (image.width - side) / 2, y: (image.height - side) / 2, width: side, height: side)
    case .pixels(let x, let y, let width, let height):
      guard width > 0, height > 0 else { throw TileRequestError("the region is empty") }
      guard x < image.width, y < image.height else {
        throw TileRequestError("the region is outside the image")
      }
      return PixelRect(x: x, y: y, width: min(width, image.width - x), height: min(height, image.height - y))
    case .percent(let x, let y, let width, let height):
      guard width > 0, height > 0 else { throw TileRequestError("the region is empty") }
      guard x < 100, y < 100 else { throw TileRequestError("the region is outside the image") }
      func pixels(_ percent: Double, of side: Int) -> Double {
        IIIFNumber.pixels(min(percent, 100), percentOf: side)
      }
      return PixelRect(
        nearest: (pixels(x, of: image.width), pixels(y, of: image.height)),
        size: (pixels(width, of: image.width), pixels(height, of: image.height)), in: image)
    }
  }
}

extension PixelRect {
  /// Creates a rectangle of the whole pixels nearest to one that begins inside the image, cut at the image's edges.
  /// Each side has at least one pixel: the image's last one if the rectangle begins less than half a pixel before the
  /// edge.
  init(nearest start: (x: Double, y: Double), size: (width: Double, height: Double), in image: PixelSize) {
    let x = min(Int(start.x.rounded()), image.width - 1)
    let y = min(Int(start.y.rounded()), image.height - 1)
    self.init(
      x: x, y: y, width: min(max(1, Int(size.width.rounded())), image.width - x),
      height: min(max(1, Int(size.height.rounded())), image.height - y))
  }
}

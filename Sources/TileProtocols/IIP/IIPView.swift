import TileGeometry

/// A picture that CVT requests: a region, the box that it is to fill, and how it is encoded.
struct IIPView {
  /// Fractions of the image's sides.
  var region: (x: Double, y: Double, width: Double, height: Double)?
  /// Pixels of the picture; 0 if the side follows from the other.
  var (width, height) = (0, 0)
  /// Degrees clockwise, 0..<360.
  var rotation = 0.0
  var isMirrored = false
  /// 1 to 100; nil for the server's default.
  var encodingQuality: UInt8?
  var format: PictureFormat?

  func place(in pyramid: Pyramid, _ limits: PictureLimits) -> TileResolution {
    guard let format else { return .notFound(.noSuchTile) }
    let image = pyramid.imageSize
    let (x, y) = (region?.x ?? 0, region?.y ?? 0)
    let (across, down) = (min(region?.width ?? 1, 1 - x), min(region?.height ?? 1, 1 - y))
    let (imageWidth, imageHeight) = (Double(image.width), Double(image.height))
    guard x < 1, y < 1 else { return .notFound(TileRequestError("RGN is outside the image")) }
    let rectangle = PixelRect(
      nearest: (x * imageWidth, y * imageHeight), size: (across * imageWidth, down * imageHeight), in: image)
    let size = size(across * imageWidth, down * imageHeight, of: image, as: format, limits)
    let isPlain = rotation == 0 && !isMirrored && encodingQuality == nil
    if isPlain, let tile = IIIFGrid.tile(pyramid, rectangle, width: size.width, height: size.height) {
      return .stored(tile)
    }
    var picture = Picture(region: rectangle, size: size, format: format)
    picture.isMirrored = isMirrored
    picture.rotation = rotation
    picture.encodingQuality = encodingQuality
    return .picture(picture)
  }

  /// Returns the largest size in the box with the region's proportions, within the limits. Without a box, that of the
  /// image applies, so that a region becomes as large as the image would be.
  private func size(
    _ across: Double, _ down: Double, of image: PixelSize, as format: PictureFormat, _ limits: PictureLimits
  ) -> PixelSize {
    let isOpen = width == 0 && height == 0
    let wide = isOpen ? Double(image.width) : width == 0 ? Double.infinity : Double(width)
    let high = isOpen ? Double(image.height) : height == 0 ? Double.infinity : Double(height)
    let scale = min(wide / across, high / down)
    let (fullWidth, fullHeight) = (max(1, (across * scale).rounded()), max(1, (down * scale).rounded()))
    // A rotated picture is half as large again along a side.
    let side = Double(min(PictureLimits.side, PictureLimits.side(of: format))) / (rotation == 0 ? 1 : 2)
    let area = Double(format.limit(limits.area))
    let factor = min(
      1, side / fullWidth, side / fullHeight, (area / fullWidth / fullHeight).squareRoot())
    return PixelSize(
      width: max(1, Int(fullWidth * factor)), height: max(1, Int(fullHeight * factor)))!
  }
}

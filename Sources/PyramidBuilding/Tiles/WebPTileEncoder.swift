import ZigguratCWebP
import ZigguratImaging

/// WebP tiles by libwebp, with the settings of libvips' `webpsave`: lossy, method 4, alpha kept without
/// loss.
final class WebPTileEncoder: TileEncoding {
  private let bands: PixelBands
  private var configuration = WebPConfig()
  /// Grows to the largest tile and is used again.
  private var output = WebPMemoryWriter()
  /// Gray pixels as RGB, which is all that libwebp takes.
  private let coloured: UnsafeMutablePointer<UInt8>?
  private let colouredStride: Int

  init(bands: PixelBands, quality: Int, tileSize: Int) throws(BuildError) {
    self.bands = bands
    colouredStride = tileSize * (bands.count + 2)
    coloured = bands.isGray ? .allocate(capacity: colouredStride * tileSize) : nil
    WebPMemoryWriterInit(&output)
    guard WebPConfigInit(&configuration) != 0 else {
      throw BuildError("tile", "libwebp is another version than the one built against")
    }
    configuration.quality = Float(quality)
    configuration.method = 4
    configuration.alpha_quality = 100
  }

  deinit {
    WebPMemoryWriterClear(&output)
    coloured?.deallocate()
  }

  func encode(_ tile: TilePixels) throws(BuildError) -> UnsafeRawBufferPointer {
    var picture = WebPPicture()
    guard WebPPictureInit(&picture) != 0 else {
      throw BuildError("tile", "libwebp is another version than the one built against")
    }
    defer { WebPPictureFree(&picture) }
    picture.width = Int32(tile.width)
    picture.height = Int32(tile.height)
    let (pixels, stride) = inColour(tile)
    let isImported =
      bands.hasAlpha
      ? WebPPictureImportRGBA(&picture, pixels, Int32(stride))
      : WebPPictureImportRGB(&picture, pixels, Int32(stride))
    guard isImported != 0 else { throw BuildError("tile", "no memory for a WebP tile", isTemporary: true) }
    output.size = 0
    picture.writer = WebPMemoryWrite
    let code = withUnsafeMutablePointer(to: &output) { output in
      picture.custom_ptr = UnsafeMutableRawPointer(output)
      return WebPEncode(&configuration, &picture)
    }
    guard code != 0 else {
      throw BuildError("tile", "libwebp failed with error \(picture.error_code.rawValue)")
    }
    return UnsafeRawBufferPointer(start: output.mem, count: output.size)
  }

  private func inColour(_ tile: TilePixels) -> (UnsafePointer<UInt8>, stride: Int) {
    let plane = tile[0]
    guard let coloured else { return (UnsafePointer(plane.base), plane.stride) }
    let (bands, hasAlpha) = (bands.count, bands.hasAlpha)
    for y in 0..<tile.height {
      var from = plane.base + y * plane.stride
      var to = coloured + y * colouredStride
      for _ in 0..<tile.width {
        to[0] = from[0]
        to[1] = from[0]
        to[2] = from[0]
        if hasAlpha { to[3] = from[1] }
        from += bands
        to += bands + 2
      }
    }
    return (UnsafePointer(coloured), colouredStride)
  }
}

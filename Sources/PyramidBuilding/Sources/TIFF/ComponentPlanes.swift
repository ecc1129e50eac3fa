import ZigguratCTurboJPEG
import ZigguratImaging

/// The components of a tile in planes of their own on their way to RGB: those of a JPEG that is not 4:2:0. For one
/// thread at a time.
final class ComponentPlanes {
  let planes: Planes
  private let buffers: [PlaneBuffer]
  private let converter: JPEGDecompressor?

  /// - Parameter isYCbCr: otherwise red, green and blue.
  init(isYCbCr: Bool, tileSize: Int) throws(BuildError) {
    converter = isYCbCr ? try JPEGDecompressor("tile") : nil
    buffers = (0..<3).map { _ in PlaneBuffer(.interleaved(.gray), width: tileSize, height: tileSize) }
    planes = Planes(buffers[0].planes[0], buffers[1].planes[0], buffers[2].planes[0])
  }

  func join(into tile: TilePixels, _ mcu: JPEGHeader.MCU) throws(BuildError) {
    guard let converter else { return interleave(into: tile[0], tile.width, tile.height) }
    let sampling =
      switch (mcu.width, mcu.height) {
      case (8, 8): TJSAMP_444
      case (16, 8): TJSAMP_422
      case (8, 16): TJSAMP_440
      default: TJSAMP_420
      }
    var bases = planes.readableBases
    let strides = planes.strides.map(Int32.init)
    let code = tjDecodeYUVPlanes(
      converter.handle, &bases, strides, Int32(sampling.rawValue), tile[0].base, Int32(tile.width),
      Int32(tile[0].stride), Int32(tile.height), Int32(TJPF_RGB.rawValue), 0)
    guard code == 0 else { throw BuildError("tile", converter.message) }
  }

  private func interleave(into pixels: Plane, _ width: Int, _ height: Int) {
    for y in 0..<height {
      let at = y * planes[0].stride
      let (red, green, blue) = (planes[0].base + at, planes[1].base + at, planes[2].base + at)
      let row = pixels.base + y * pixels.stride
      for x in 0..<width {
        row[3 &* x] = red[x]
        row[3 &* x &+ 1] = green[x]
        row[3 &* x &+ 2] = blue[x]
      }
    }
  }
}

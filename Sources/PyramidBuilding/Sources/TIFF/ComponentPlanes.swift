import ZigguratCTurboJPEG
import ZigguratImaging

/// The components of a tile in planes of their own on their way to RGB: those of a JPEG that is not 4:2:0. For one
/// thread at a time.
final class ComponentPlanes {
  let planes: (Plane, Plane, Plane)
  private let memory: UnsafeMutablePointer<UInt8>
  private let converter: tjhandle?

  /// - Parameter isYCbCr: otherwise red, green and blue.
  init(_ mcu: JPEGHeader.MCU, isYCbCr: Bool, tileSize: Int) throws(BuildError) {
    let (stride, size) = (tileSize + 64, (tileSize + 64) * tileSize)
    memory = .allocate(capacity: 3 * size)
    planes = (
      Plane(base: memory, stride: stride), Plane(base: memory + size, stride: stride),
      Plane(base: memory + 2 * size, stride: stride)
    )
    converter = isYCbCr ? tjInitDecompress() : nil
    // `deinit` frees the memory: it runs if an initializer throws when all properties are set.
    if isYCbCr, converter == nil {
      throw BuildError("tile", "no memory for a JPEG decoder", isTemporary: true)
    }
  }

  deinit {
    memory.deallocate()
    if let converter { tjDestroy(converter) }
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
    var bases: [UnsafePointer<UInt8>?] = [
      UnsafePointer(planes.0.base), UnsafePointer(planes.1.base), UnsafePointer(planes.2.base),
    ]
    let strides = [Int32(planes.0.stride), Int32(planes.1.stride), Int32(planes.2.stride)]
    let code = tjDecodeYUVPlanes(
      converter, &bases, strides, Int32(sampling.rawValue), tile[0].base, Int32(tile.width),
      Int32(tile[0].stride), Int32(tile.height), Int32(TJPF_RGB.rawValue), 0)
    guard code == 0 else { throw BuildError("tile", String(cString: tjGetErrorStr2(converter))) }
  }

  private func interleave(into pixels: Plane, _ width: Int, _ height: Int) {
    for y in 0..<height {
      let at = y * planes.0.stride
      let (red, green, blue) = (planes.0.base + at, planes.1.base + at, planes.2.base + at)
      let row = pixels.base + y * pixels.stride
      for x in 0..<width {
        row[3 &* x] = red[x]
        row[3 &* x &+ 1] = green[x]
        row[3 &* x &+ 2] = blue[x]
      }
    }
  }
}

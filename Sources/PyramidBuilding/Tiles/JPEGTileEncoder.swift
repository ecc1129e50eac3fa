import ZigguratCTurboJPEG
import ZigguratImaging

/// JPEG tiles by libjpeg-turbo, with the settings of libvips' `jpegsave`: accurate DCT, standard
/// Huffman tables, 4:2:0 below quality 90 and 4:4:4 from there on unless one is asked for.
final class JPEGTileEncoder: TileEncoding {
  private let handle: tjhandle
  private var buffer: UnsafeMutablePointer<UInt8>?
  private let capacity: UInt
  private let format: TJPF
  private let sampling: TJSAMP
  private let quality: Int32

  /// - Parameter layout: gray, RGB or planes of 4:2:0, which stay as they are.
  init(
    _ layout: PixelLayout, quality: Int, subsampling: Subsampling = .auto, tileSize: Int
  ) throws(BuildError) {
    switch layout {
    case .interleaved(.gray): (format, sampling) = (TJPF_GRAY, TJSAMP_GRAY)
    case .interleaved(.rgb):
      format = TJPF_RGB
      sampling = subsampling.halvesChroma(atQuality: quality) ? TJSAMP_420 : TJSAMP_444
    case .planar420: (format, sampling) = (TJPF_RGB, TJSAMP_420)
    case .interleaved(.grayAlpha), .interleaved(.rgba): preconditionFailure("JPEG has no alpha")
    }
    self.quality = Int32(quality)
    capacity = tjBufSize(Int32(tileSize), Int32(tileSize), Int32(sampling.rawValue))
    guard let handle = tjInitCompress(), let buffer = tjAlloc(Int32(capacity)) else {
      throw BuildError("tile", "no memory for a JPEG encoder", isTemporary: true)
    }
    self.handle = handle
    self.buffer = buffer
  }

  deinit {
    tjDestroy(handle)
    tjFree(buffer)
  }

  func encode(_ tile: TilePixels) throws(BuildError) -> UnsafeRawBufferPointer {
    var size = capacity
    // The buffer is large enough for any tile, so the library never moves it.
    let flags = TJFLAG_NOREALLOC | TJFLAG_ACCURATEDCT
    let code: Int32
    if tile.layout == .planar420 {
      var bases = tile.planes.readableBases
      let strides = tile.planes.strides.map(Int32.init)
      code = tjCompressFromYUVPlanes(
        handle, &bases, Int32(tile.width), strides, Int32(tile.height), Int32(sampling.rawValue), &buffer,
        &size, quality, flags)
    } else {
      code = tjCompress2(
        handle, tile[0].base, Int32(tile.width), Int32(tile[0].stride), Int32(tile.height),
        Int32(format.rawValue), &buffer, &size, Int32(sampling.rawValue), quality, flags)
    }
    guard code == 0 else { throw BuildError("tile", String(cString: tjGetErrorStr2(handle))) }
    return UnsafeRawBufferPointer(start: buffer, count: Int(size))
  }
}

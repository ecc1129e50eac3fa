import CTurboJPEG

/// JPEG tiles by libjpeg-turbo, with the settings of libvips' `jpegsave`: accurate DCT, standard
/// Huffman tables, 4:2:0 below quality 90 and 4:4:4 from there on.
final class JPEGTileEncoder: TileEncoding {
  private let handle: tjhandle
  private var buffer: UnsafeMutablePointer<UInt8>?
  private let capacity: UInt
  private let format: TJPF
  private let sampling: TJSAMP
  private let quality: Int32

  /// - Parameter bands: 1 (gray) or 3 (RGB).
  init(bands: Int, quality: Int, tileSize: Int) throws(BuildError) {
    precondition(bands == 1 || bands == 3, "JPEG tiles are gray or RGB")
    format = bands == 1 ? TJPF_GRAY : TJPF_RGB
    sampling = bands == 1 ? TJSAMP_GRAY : quality < 90 ? TJSAMP_420 : TJSAMP_444
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

  func encode(
    _ pixels: UnsafePointer<UInt8>, width: Int, height: Int, stride: Int
  ) throws(BuildError) -> UnsafeRawBufferPointer {
    var size = capacity
    // The buffer is large enough for any tile, so the library never moves it.
    guard
      tjCompress2(
        handle, pixels, Int32(width), Int32(stride), Int32(height), Int32(format.rawValue), &buffer,
        &size, Int32(sampling.rawValue), quality, TJFLAG_NOREALLOC | TJFLAG_ACCURATEDCT) == 0
    else { throw BuildError("tile", String(cString: tjGetErrorStr2(handle))) }
    return UnsafeRawBufferPointer(start: buffer, count: Int(size))
  }
}

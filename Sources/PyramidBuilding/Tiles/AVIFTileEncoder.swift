import ZigguratImaging

/// AVIF tiles by libvips: AV1 takes so long to encode that nothing around it counts.
final class AVIFTileEncoder: TileEncoding {
  private let bands: PixelBands
  private let quality: Int
  private let profile: [UInt8]?
  private var bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

  init(bands: PixelBands, quality: Int, profile: [UInt8]?) {
    self.bands = bands
    self.quality = quality
    self.profile = profile
  }

  deinit { bytes.deallocate() }

  func encode(_ tile: TilePixels) throws(BuildError) -> UnsafeRawBufferPointer {
    let encoded: [UInt8]
    do {
      let image = Image(
        copying: tile.planes.0.base, width: tile.width, height: tile.height, bands: bands,
        stride: tile.planes.0.stride)
      if let profile { image.setProfile(profile) }
      encoded = try image.avifBytes(quality: quality)
    } catch { throw BuildError("tile", error) }
    if bytes.count < encoded.count {
      bytes.deallocate()
      bytes = .allocate(byteCount: encoded.count * 2, alignment: 16)
    }
    bytes.copyBytes(from: encoded)
    return UnsafeRawBufferPointer(rebasing: bytes[..<encoded.count])
  }
}

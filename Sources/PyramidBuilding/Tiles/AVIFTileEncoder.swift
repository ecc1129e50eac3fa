import ZigguratImaging

/// AVIF tiles by libvips: AV1 takes so long to encode that nothing around it counts.
final class AVIFTileEncoder: TileEncoding {
  private let bands: PixelBands
  private let quality: Int
  private let profile: [UInt8]?
  private let kept = ReusableBuffer()

  init(bands: PixelBands, quality: Int, profile: [UInt8]?) {
    self.bands = bands
    self.quality = quality
    self.profile = profile
  }

  func encode(_ tile: TilePixels) throws(BuildError) -> UnsafeRawBufferPointer {
    do {
      let image = Image(
        copying: tile[0].base, width: tile.width, height: tile.height, bands: bands,
        stride: tile[0].stride)
      if let profile { image.setProfile(profile) }
      return kept.keep(try image.avifBytes(quality: quality))
    } catch { throw BuildError("tile", error) }
  }
}

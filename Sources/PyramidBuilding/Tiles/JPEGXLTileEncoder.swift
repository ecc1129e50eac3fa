import ZigguratImaging

/// JPEG XL tiles by libjxl.
final class JPEGXLTileEncoder: TileEncoding {
  private let bands: PixelBands
  private let quality: Int
  private let profile: [UInt8]?
  private let rows: PackedRows
  private let kept = ReusableBuffer()

  init(bands: PixelBands, quality: Int, profile: [UInt8]?, tileSize: Int) {
    self.bands = bands
    self.quality = quality
    self.profile = profile
    rows = PackedRows(bands: bands, tileSize: tileSize)
  }

  func encode(_ tile: TilePixels) throws(BuildError) -> UnsafeRawBufferPointer {
    do throws(ImagingError) {
      return kept.keep(
        try JPEGXL.encode(
          rows.pack(tile), width: tile.width, height: tile.height, bands: bands, quality: quality,
          effort: .thorough, profile: profile))
    } catch { throw BuildError("tile", error) }
  }
}

/// Makes JPEG XL of JPEG tiles, which can be had back byte for byte. One per thread; its memory is used again.
final class JPEGRecompression {
  private let kept = ReusableBuffer()

  /// - Returns: bytes that stay valid until the next call.
  func recompressed(_ jpeg: UnsafeRawBufferPointer) throws(BuildError) -> UnsafeRawBufferPointer {
    do throws(ImagingError) {
      return kept.keep(try JPEGXL.recompress(jpeg: jpeg))
    } catch { throw BuildError("tile", error) }
  }
}
